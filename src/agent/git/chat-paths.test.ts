import { expect, test } from "vitest";
import { ChatPaths } from "./chat-paths.js";

const child = { chatId: "child", ancestorChatIds: ["parent", "root"] };

test("a chat's paths also count for its ancestors, and for no other chats", () => {
  const paths = new ChatPaths();
  paths.add(child, ["/b", "/a"]);
  paths.add({ chatId: "parent", ancestorChatIds: ["root"] }, ["/c", "/a"]);
  paths.add({ chatId: undefined, ancestorChatIds: ["root"] }, ["/nobody"]);
  expect(["child", "parent", "root", "other"].map((id) => paths.folders(id))).toEqual([
    ["/a", "/b"],
    ["/a", "/b", "/c"],
    ["/a", "/b", "/c"],
    [],
  ]);
});

test("subscribers are notified of every path until they unsubscribe, also of known ones", () => {
  const paths = new ChatPaths();
  const notified: string[] = [];
  const leave = ["child", "root", "other"].map((id) => paths.subscribe(id, () => notified.push(id)));
  paths.add(child, ["/a"]);
  paths.add(child, ["/a"]);
  leave[0]?.();
  paths.add(child, []);
  expect(notified).toEqual(["child", "root", "child", "root", "root"]);
});

test("of very many folders the ones that were used last are known", () => {
  const paths = new ChatPaths();
  const folders = Array.from({ length: 600 }, (_, index) => `/${String(index).padStart(3, "0")}`);
  paths.add(child, folders);
  paths.add(child, ["/100"]);
  expect(paths.folders("child")).toEqual(["/100", ...folders.slice(101)].sort());
});
