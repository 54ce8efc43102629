import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { maxBlocks, PromptBlocks } from "#src/fleet/routing/prompt-blocks.ts";
import { chatRequest, textRequest } from "../engines/requests.ts";

/** The blocks' hashes as text. */
function blocks(request: FleetRequest): string[] {
  const read = new PromptBlocks();
  read.read(request);
  return Array.from({ length: read.count }, (_, i) => `${read.hashes[2 * i]}-${read.hashes[2 * i + 1]}`);
}

function chat(texts: readonly string[], more: Partial<FleetRequest> = {}): FleetRequest {
  const messages = texts.map((text, i) => ({ role: i % 2 === 0 ? Role.USER : Role.ASSISTANT, text }));
  return {
    ...chatRequest(""),
    prompt: { case: "conversation", value: create(ConversationSchema, { messages }) },
    ...more,
  };
}

const common = (one: readonly string[], other: readonly string[]) => one.filter((hash, i) => other[i] === hash).length;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789".repeat(1000);

test("a conversation that goes on begins as it did", () => {
  const before = blocks(chat([letters.slice(0, 900)]));
  const after = blocks(chat([letters.slice(0, 900), letters.slice(50, 500), "and now?"]));
  expect(before).toHaveLength(11);
  expect(after.slice(0, 11)).toEqual(before);
  expect(after.length).toBeGreaterThan(11);
});

test.each<[string, FleetRequest]>([
  ["another first message", chat([`X${letters.slice(1, 900)}`])],
  ["another account", chat([letters.slice(0, 900)], { cacheSalt: "other" })],
  ["another form", textRequest(letters.slice(0, 900))],
])("%s shares nothing", (_, other) => {
  expect(common(blocks(chat([letters.slice(0, 900)])), blocks(other))).toBe(0);
});

test.each([
  ["a bare text", textRequest],
  ["a message", (text: string) => chat([text])],
])("%s that is longer begins as the shorter one, whose end counts where another text follows", (_, request) => {
  const shorter = blocks(request(letters.slice(0, 899)));
  expect(blocks(request(letters.slice(0, 5000))).slice(0, 11)).toEqual(shorter);
  const [one, other] = [899, 900].map((length) => blocks(chat([letters.slice(0, length), letters.slice(0, 900)])));
  expect(common(one ?? [], other ?? [])).toBe(11);
});

test.each([1, 2, 3, 5, 6])("the last characters of a text count, all %d of them", (length) => {
  const after = (text: string) => blocks(chat([text, letters.slice(0, 100)]));
  expect(common(after("a".repeat(length)), after(`${"a".repeat(length - 1)}b`))).toBe(
    length === 5 || length === 6 ? 1 : 0,
  );
});

test("what differs later shares what comes before", () => {
  const one = blocks(chat([letters.slice(0, 640), "a".repeat(1000)]));
  const other = blocks(chat([letters.slice(0, 640), "b".repeat(1000)]));
  expect(common(one, other)).toBe(9);
});

test("the longest prompts have no more blocks than others", () => {
  const read = new PromptBlocks();
  read.read(chat(Array.from({ length: 800 }, (_, at) => "x".repeat(64 * 1.017 ** at))));
  expect(read.count).toBe(maxBlocks);
  expect(read.ends[maxBlocks - 1]).toBeGreaterThan(500_000);
});

test.each([
  ["ends a block", 400, 1],
  ["is too little for a block", 40, 0],
])("a message that %s at %i characters is shared by what goes on otherwise", (_, length, more) => {
  const begin = [letters.slice(0, 640), "a".repeat(10_000), "c".repeat(length)];
  const one = blocks(chat([...begin, "d".repeat(5000)]));
  const other = blocks(chat([...begin, "e".repeat(5000)]));
  const without = blocks(chat([...begin.slice(0, 2), "f".repeat(5000)]));
  expect(common(one, other) - common(one, without)).toBe(more);
});

test("tools count as part of the beginning", () => {
  const messages = [{ role: Role.USER, text: letters.slice(0, 200) }];
  const withTools = (parametersJson: string) => {
    const value = create(ConversationSchema, { messages, tools: [{ name: "f", parametersJson }] });
    return blocks({ ...chatRequest(""), prompt: { case: "conversation", value } });
  };
  expect(common(withTools('{"type":"object"}'), withTools('{"type":"number"}'))).toBe(0);
});
