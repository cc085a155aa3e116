import { expect, test } from "vitest";
import { estimateAnswerTokens, estimateMessageTokens, estimateTokens } from "./token-estimate.js";

/** Token counts of each text by o200k_base (gpt-tokenizer 4.0.0) and by Llama 3's tokeniser (llama3-tokenizer-js 1.2.0). */
const COUNTED: [string, number, number, string][] = [
  [
    "English prose",
    68,
    68,
    "The server keeps every chat in one database and runs its turns on whichever replica is free. When a replica dies in the middle of an answer, another one takes the chat over and asks the model again; whoever reads along sees a retry notice and then the new answer. Nothing that was saved is ever lost, and nothing is saved twice.",
  ],
  [
    "Markdown",
    100,
    100,
    "## Install\n\n1. Clone the repository and run `npm ci`.\n2. Set `DATABASE_URL`, or leave it out for the *embedded* database.\n3. Start it: `npm run dev -- --port=4000`\n\n| variable | default | meaning |\n| --- | --- | --- |\n| `PORT` | 4000 | where it listens |\n| `LOG_LEVEL` | info | how much it says |\n\n> **Note:** never commit your `.env` file.",
  ],
  [
    "TypeScript",
    94,
    92,
    "export async function findUsers(db: Database, { limit, after }: PageRequest): Promise<User[]> {\n  const rows = await db.query<UserRow>(\n    `SELECT id, email, created_at FROM users WHERE id > $1 ORDER BY id LIMIT $2`,\n    [after ?? 0, Math.min(limit, MAX_PAGE_SIZE)],\n  );\n  return rows.map((row) => ({ ...row, createdAt: row.created_at.getTime() }));\n}\n",
  ],
  [
    "Python",
    118,
    114,
    'def moving_average(values: list[float], window: int = 5) -> list[float]:\n    """Return the mean of each window; raises ValueError for an empty window."""\n    if window <= 0:\n        raise ValueError(f"window must be positive, not {window!r}")\n    total, result = 0.0, []\n    for index, value in enumerate(values):\n        total += value\n        if index >= window:\n            total -= values[index - window]\n        result.append(total / min(index + 1, window))\n    return result\n',
  ],
  [
    "JSON",
    162,
    160,
    '{\n  "orders": [\n    {\n      "id": "ord_8f3a21",\n      "total": 129.95,\n      "currency": "EUR",\n      "items": [\n        {\n          "sku": "AB-1043",\n          "quantity": 2,\n          "price": 49.5\n        },\n        {\n          "sku": "ZX-77",\n          "quantity": 1,\n          "price": 30.95\n        }\n      ],\n      "createdAt": "2026-03-14T09:26:53.589Z",\n      "isPaid": true,\n      "note": null\n    }\n  ],\n  "nextCursor": "eyJpZCI6MTI4fQ=="\n}',
  ],
  [
    "log lines",
    131,
    131,
    "2026-03-14T09:26:53.589Z INFO [worker-3] request id=7f3c9a12 took 182 ms status=200 path=/api/v1/items/4711\n2026-03-14T09:26:54.120Z WARN [worker-1] request id=19be04d7 took 2931 ms status=503 path=/api/v1/orders\n2026-03-14T09:26:54.377Z ERROR [worker-1] ECONNRESET while reading from 10.0.12.7:5432\n",
  ],
  [
    "Chinese",
    80,
    82,
    "服务器把所有对话保存在一个数据库中，并在任意空闲的副本上运行。如果某个副本在回答过程中崩溃，另一个副本会接管该对话并再次询问模型；正在阅读的人会先看到重试提示，然后看到新的回答。已经保存的内容永远不会丢失，也不会保存两次。",
  ],
  [
    "Japanese",
    92,
    81,
    "サーバーはすべてのチャットを一つのデータベースに保存し、空いているレプリカでターンを実行します。回答の途中でレプリカが停止した場合は、別のレプリカがチャットを引き継いでモデルに再度問い合わせます。保存された内容が失われることはなく、二重に保存されることもありません。",
  ],
  [
    "Korean",
    77,
    75,
    "서버는 모든 대화를 하나의 데이터베이스에 저장하고, 비어 있는 복제본에서 차례를 실행합니다. 답변 도중에 복제본이 중단되면 다른 복제본이 대화를 이어받아 모델에 다시 묻습니다. 저장된 내용은 절대 사라지지 않으며 두 번 저장되지도 않습니다.",
  ],
  [
    "Russian",
    81,
    92,
    "Сервер хранит все беседы в одной базе данных и выполняет их на любой свободной реплике. Если реплика умирает посреди ответа, другая принимает беседу и снова спрашивает модель; тот, кто читает, видит уведомление о повторе, а затем новый ответ. Сохранённое никогда не теряется и не записывается дважды.",
  ],
  [
    "German",
    67,
    87,
    "Der Server bewahrt alle Gespräche in einer Datenbank auf und führt sie auf einer beliebigen freien Replik aus. Stirbt eine Replik mitten in einer Antwort, übernimmt eine andere das Gespräch und fragt das Modell noch einmal; wer mitliest, sieht einen Hinweis und danach die neue Antwort. Gespeichertes geht niemals verloren.",
  ],
];

/** The least accurate is Chinese, which newer vocabularies encode better than the estimate assumes. */
const GREATEST_ERROR = 0.35;

test.each(COUNTED)("%s is estimated about as tokenisers count it", (_, openai, llama, text) => {
  const estimated = estimateTokens(text);
  expect(Math.abs(estimated / openai - 1)).toBeLessThan(GREATEST_ERROR);
  expect(Math.abs(estimated / llama - 1)).toBeLessThan(GREATEST_ERROR);
});

test("all of them together are estimated to a twentieth", () => {
  const sum = (pick: (row: (typeof COUNTED)[number]) => number) =>
    COUNTED.reduce((total, row) => total + pick(row), 0);
  const estimated = sum(([, , , text]) => estimateTokens(text));
  expect(Math.abs(estimated / sum(([, openai]) => openai) - 1)).toBeLessThan(0.05);
  expect(Math.abs(estimated / sum(([, , llama]) => llama) - 1)).toBeLessThan(0.05);
});

test.each<[string, number]>([
  ["", 0],
  [" ", 0],
  ["a", 1],
  ["camelCaseName", 3],
  ["123456", 3],
  ["\u{1f389}", 3],
  ["\ud83d", 3],
  ["\n\n\n", 0],
])("%j is %i tokens", (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});

test("a message is all that its model reads of it: arguments, results and files, but no notice", () => {
  const file = { fileId: "f", name: "a.png", mediaType: "image/png", sizeBytes: 5_000_000 };
  const empty = estimateMessageTokens([]);
  const alone = (part: Parameters<typeof estimateMessageTokens>[0][number]) =>
    estimateMessageTokens([part]) - empty;
  const call = { toolCallId: "c", toolName: "t" };
  expect([
    alone({ type: "text", text: "one two" }),
    alone({ type: "notice", level: "warning", text: "one two" }),
    alone({ type: "file", ...file }),
    alone({ type: "file", ...file, mediaType: "text/plain", sizeBytes: 400 }),
    alone({ type: "file", ...file, mediaType: "application/pdf", sizeBytes: 100_000 }),
  ]).toEqual([2, 0, 1_500, 100, 4_000]);
  const result = { type: "tool-result", ...call, result: "one two", isError: false } as const;
  expect(alone({ ...result, files: [file] })).toBe(alone(result) + 1_500);
  const longer = { type: "tool-call", ...call, arguments: { text: "word ".repeat(50) } } as const;
  expect(alone(longer)).toBeGreaterThan(50);
});

test("of an answer thoughts are counted apart, and in it", () => {
  const parts = [
    { type: "reasoning" as const, text: "one two three" },
    { type: "text" as const, text: "four" },
  ];
  expect(estimateAnswerTokens(parts)).toEqual({ output: 4, reasoning: 3 });
});
