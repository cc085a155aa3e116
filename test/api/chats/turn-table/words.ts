// The words of the table, for everything that plays it.
import type { Fifo } from "../../../agent/files/fifo.js";
import type { ApiClient, Follower } from "../../../support/clients/api-client.js";
import type { TestEnvironment } from "../../../support/parley.js";
import type { Line, StagedChat, StagedModel } from "../../../support/models/staged-model.js";
import type { Transcript } from "../../../support/clients/transcript.js";

export type Scene = {
  environment: TestEnvironment;
  model: StagedModel;
  /** A second server that runs no chats: who runs one hears of its changes late. Started when it is first asked for. */
  apiServer(): Promise<ApiClient>;
};

export type Cell = {
  phase: Phase;
  scene: Scene;
  /** Names its files and its first message. */
  cue: string;
  chatId: string;
  /** The server that is spoken to now. */
  api: ApiClient;
  staged: StagedChat;
  /** Follows all the time; when its server goes, it comes back with its cursor. */
  follower: Follower;
  /** Was there when the phase was reached, and comes back when all is over. */
  returning: Transcript;
  /** Log entries of the follower from before the event. */
  mark: number;
  /** What the running tool holds open; null where none runs. */
  fifo: Fifo | null;
};

/** What a cell came to: all that the table promises about it. */
export type Outcome = {
  status: string;
  isArchived: boolean;
  failure: string | null;
  queue: string[];
  story: string[];
  /** Requests that the model got for this chat. */
  calls: number;
  /** Broken promises: of the stream to its followers, of the database to itself, of the prompts to the vendor. */
  breaches: string[];
};

/** What a model can meet with when it is asked: its answer has not begun, or is under way. */
export type Asked = "not begun" | "begun" | "no";

export type Phase = {
  name: string;
  /** What the model says in turn. `fifoName` is the pipe that the running tool keeps open. */
  lines(cue: string, fifoName: string): Line[];
  /** Resolves when the chat has been seen in the phase. */
  reach(cell: Cell): Promise<unknown>;
  /** Makes the event happen in the phase, where that takes more than to be in it. */
  around?(cell: Cell, act: () => Promise<unknown>): Promise<unknown>;
  /** Besides the text when the chat is created. */
  more?: object;
  runsProcess?: boolean;
  /** No worker has it in hand. */
  isUnowned?: boolean;
  /** Takes a scene of its own when a person acts in it. */
  isApart?: boolean;
  /** The rest of the story when the model's answer breaks, where no new attempt is made. */
  afterAccident?: string[];
  /** What a server that goes leaves of it, where the step is not run again; null where it cannot be had. */
  afterServer?: Record<"shutdown" | "crash" | "lost lease", string[] | null>;
  /** What the model is doing. */
  asked: Asked;
  /** Calls so far; the last one is the one that is held. */
  calls: number;
  /** History when it is reached. */
  before: string[];
  /** What an interrupt adds to it. */
  saved: string[];
  /** Messages that wait. */
  queue?: string[];
  /** What the rest of the step adds when nobody interferes or it is run again, and the calls that takes. */
  rest: string[];
  restCalls: number;
};
