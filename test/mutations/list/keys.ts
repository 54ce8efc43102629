import type { Mutation } from "../mutation.ts";

const inTime = "A revoked key on other cores**: it works for 10 s at most.";
const everywhere = "No request is let in whose key has ended or whose account is frozen";
const cache = {
  file: "src/identity/accounts/keys/key-cache.ts",
  tests: ["test/identity/accounts/keys/key-cache.test.ts"],
};
const door = {
  file: "src/identity/accounts/authenticator.ts",
  tests: ["test/identity/accounts/authenticator.test.ts"],
};
const known = {
  file: "src/identity/accounts/known.ts",
  tests: ["test/identity/accounts/authenticator.test.ts"],
};
const chain = {
  file: "src/identity/accounts/keys/api-keys.ts",
  tests: ["test/identity/accounts/keys/api-keys.test.ts"],
};

/** Who is let in: keys that end, and accounts that are frozen. */
export const keyMutations: readonly Mutation[] = [
  {
    name: "a key is remembered for a minute and a half",
    ...cache,
    find: "const freshMs = 9_000;",
    replace: "const freshMs = 90_000;",
    breaks: inTime,
    worlds: ["keys"],
  },
  {
    name: "a fetch under way brings a changed key back",
    ...cache,
    find: "if (generation === this.#generation) {",
    replace: "if (generation >= 0) {",
    breaks: "A revoked key stops everywhere within 10 s, even when it was being fetched.",
    worlds: ["keys"],
  },
  {
    name: "a core remembers a key that it has just ended",
    ...door,
    find: "      cache.forget(({ caller }) => isMeant(caller.accountId));",
    replace: "",
    breaks: everywhere,
    worlds: ["keys"],
  },
  {
    name: "a revoked key lives on",
    ...known,
    find: "    revoked: Boolean(key.revokedAt),",
    replace: "    revoked: false,",
    breaks: inTime,
    worlds: ["keys"],
  },
  {
    name: "a key does not end at its time",
    ...door,
    find: '    if (known.expiresAt <= clock.now()) {\n      throw endedKey("The API key has expired.", known);',
    replace: '    if (known.expiresAt <= 0) {\n      throw endedKey("The API key has expired.", known);',
    breaks: everywhere,
    worlds: ["keys"],
  },
  {
    name: "a frozen account is not known as frozen",
    ...known,
    find: "    ...(isFrozen(account) && { frozenReason",
    replace: "    ...(!isFrozen(account) && false && { frozenReason",
    breaks: everywhere,
    worlds: ["keys"],
  },
  {
    name: "a frozen account is let in",
    file: "src/money/rate-limits/rate-limits.ts",
    tests: ["test/money/rate-limits/rate-limits.test.ts"],
    find: "  if (frozenReason !== undefined) {",
    replace: '  if (frozenReason === "") {',
    breaks: everywhere,
    worlds: ["keys"],
  },
  {
    name: "a key that was rotated works on",
    ...chain,
    find: "        limits.expiresAt = end;",
    replace: "",
    breaks: everywhere,
    worlds: ["keys"],
  },
  {
    name: "a rotated key has a budget of its own",
    ...chain,
    find: "limitsOf: limitsOf ?? id, rotatedFrom: id };",
    replace: "limitsOf, rotatedFrom: id };",
    breaks: "All keys of the chain share the limit.",
    worlds: [],
  },
  {
    name: "a rotated key does not count though its successor has ended",
    file: "src/identity/accounts/keys/key-rules.ts",
    find: 'where successor.id = one.rotated_to and ${isLive("successor")})`,',
    replace: 'where successor.id = one.rotated_to and (true or ${isLive("successor")}))`,',
    breaks: "A rotated key counts again once its successor has ended",
    tests: ["test/identity/accounts/keys/api-keys.test.ts"],
    worlds: [],
  },
  {
    name: "who is no owner any more invites into the account",
    file: "src/identity/people/invitations.ts",
    find: 'await (invitedBy && requireMemberRole(em, { accountId, personId: invitedBy }, "owner"));',
    replace: "await (invitedBy && em);",
    breaks: "What would outlive a role is made by who has it then",
    tests: ["test/identity/people/invitations.test.ts"],
    worlds: [],
  },
];
