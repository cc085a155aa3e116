// Types of the table.
import type { Fifo } from "../../../agent/files/fifo.js";
import type { ApiClient, Follower } from "../../../support/clients/api-client.js";
import type { TestEnvironment } from "../../../support/parley.js";
import type { Line, StagedChat, StagedModel } from "../../../support/models/staged-model.js";
import type { Transcript } from "../../../support/clients/transcript.js";

export type Scene = {
  environment: TestEnvironment;
  model: StagedModel;
  /** A second server that runs no chats, so that its changes reach their worker late. Started on first use. */
  apiServer(): Promise<ApiClient>;
};

export type Cell = {
  phase: Phase;
  scene: Scene;
  /** Prefix of the cell's files and of its first message. */
  cue: string;
  chatId: string;
  /** Client of the current server. */
  api: ApiClient;
  staged: StagedChat;
  /** Subscribed throughout; resumes from its cursor when its server is lost. */
  follower: Follower;
  /** Subscribed when the phase was reached, and resumed after the end. */
  returning: Transcript;
  /** Length of the follower's log before the event. */
  mark: number;
  /** The pipe that the running tool keeps open; null if none runs. */
  fifo: Fifo | null;
};

/** The final state of a cell, as far as the table specifies it. */
export type Outcome = {
  status: string;
  isArchived: boolean;
  failure: string | null;
  queue: string[];
  story: string[];
  /** Number of requests to the model for this chat. */
  calls: number;
  /** Violations by the event stream, by the stored data and by the prompts. */
  breaches: string[];
};

/** Whether a model call is pending in the phase, and whether its response has begun. */
export type Asked = "not begun" | "begun" | "no";

export type Phase = {
  name: string;
  /** The model's scripted responses, in order. `fifoName` is the pipe that the running tool keeps open. */
  lines(cue: string, fifoName: string): Line[];
  /** Resolves when the chat has been observed in the phase. */
  reach(cell: Cell): Promise<unknown>;
  /** Wraps the event if special measures are needed for it to occur in the phase. */
  around?(cell: Cell, act: () => Promise<unknown>): Promise<unknown>;
  /** Further input of `createChat`. */
  more?: object;
  runsProcess?: boolean;
  /** Not claimed by any worker. */
  isUnowned?: boolean;
  /** User events in this phase need a scene of their own. */
  isApart?: boolean;
  /** Replaces `rest` if the model's response breaks and is not retried. */
  afterAccident?: string[];
  /** Replaces `rest` after a lost server if the step is not repeated; null if the combination is impossible. */
  afterServer?: Record<"shutdown" | "crash" | "lost lease", string[] | null>;
  /** State of the model call. */
  asked: Asked;
  /** Model calls so far; the last one is paused. */
  calls: number;
  /** History when the phase is reached. */
  before: string[];
  /** Partial output that an interrupt adds to history. */
  saved: string[];
  /** Queued messages. */
  queue?: string[];
  /** What an undisturbed or repeated step adds to history, and the number of model calls that it takes. */
  rest: string[];
  restCalls: number;
};
