import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { type Message, MessageSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { placeSystemMessages } from "#src/fleet/engines/shared/prompt/system-messages.ts";

const roles = { s: Role.SYSTEM, u: Role.USER, a: Role.ASSISTANT, t: Role.TOOL } as const;
const letters = { [Role.SYSTEM]: "s", [Role.USER]: "u", [Role.ASSISTANT]: "a", [Role.TOOL]: "t" } as Record<
  Role,
  string
>;

/** Turns from a word of role letters: "sua" is a system, a user and an assistant turn with the texts 0, 1 and 2. */
const turns = (word: string): Message[] =>
  Array.from(word, (letter, i) => create(MessageSchema, { role: roles[letter as keyof typeof roles], text: `${i}` }));

const show = (messages: readonly Message[]) =>
  messages.map(({ role, text }) => `${letters[role]}${text.replaceAll("\n\n", "+")}`).join(" ");

test.each([
  // given, folded, in place
  ["u", "u0", "u0"],
  ["su", "s0 u1", "s0 u1"],
  ["ssu", "s0+1 u2", "s0+1 u2"],
  ["s", "s0", "s0"],
  ["sus", "s0 u1+2", "s0 u1 s2"],
  ["usa", "u0+1 a2", "u0 s1 a2"],
  ["usu", "u0+1 u2", "u0 s1 u2"],
  ["uasu", "u0 a1 u2+3", "u0 a1 s2 u3"],
  ["uassu", "u0 a1 u2+3+4", "u0 a1 s2 s3 u4"],
  ["uas", "u0 a1 u2", "u0 a1 s2"],
  ["uasa", "u0 a1 u2 a3", "u0 a1 s2 a3"],
  ["uastt", "u0 a1 t3 t4 u2", "u0 a1 t3 t4 s2"],
  ["uatst", "u0 a1 t2 t4 u3", "u0 a1 t2 t4 s3"],
  ["uastu", "u0 a1 t3 u2+4", "u0 a1 t3 s2 u4"],
  ["uatsu", "u0 a1 t2 u3+4", "u0 a1 t2 s3 u4"],
  ["uatsa", "u0 a1 t2 u3 a4", "u0 a1 t2 s3 a4"],
  ["uasts", "u0 a1 t3 u2+4", "u0 a1 t3 s2 s4"],
])("%s becomes %s, or %s where the template takes it", (given, folded, inPlace) => {
  expect(show(placeSystemMessages(turns(given), false))).toBe(folded);
  expect(show(placeSystemMessages(turns(given), true))).toBe(inPlace);
});
