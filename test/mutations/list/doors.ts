import type { Mutation } from "../mutation.ts";

/** A bound of docs/operations.md that is taken out: nothing of the money code, so no world lives it. */
const without = (bound: string, one: Omit<Mutation, "name" | "worlds"> & { readonly of?: string }): Mutation => {
  const { of, ...rest } = one;
  return { ...rest, name: `no listener has the bound ${bound}${of === undefined ? "" : `, ${of}`}`, worlds: [] };
};

const walked = "test/compose/doors.test.ts";
const inTurns = "test/compose/doors/turns.test.ts";
const calls = "test/wire/grpc/server/door-bounds.test.ts";
const floods = (of: string) => `test/facades/http/floods/${of}.test.ts`;
const program = "test/attack/attacks.test.ts";
const refusals = "an address has 50 a second, whatever it was refused for (any 4xx), after 100 at once";
const uncounted = "after 200 at once; beyond that each waits for its turn as refusals do (`uncounted`)";
const unread = "a client that reads nothing for 60 s is cut off (`slow_reader`)";

/** The bounds of listeners, taken out one at a time. */
export const doorMutations: readonly Mutation[] = [
  without("connections", {
    file: "lib/door/connections/connections.ts",
    find: "    if (this.#places.size >= this.#limits.connections) {",
    replace: "    if (this.#places.size === -1) {",
    breaks: "`connections` in all; beyond them new ones are closed (`connections`)",
    tests: ["test/lib/door/connections/connections.test.ts", walked],
  }),
  without("connections_per_address", {
    file: "lib/door/connections/connections.ts",
    find: "if (networks !== undefined && !this.#count(networks)) {",
    replace: "if (networks !== undefined && this.#count(networks) === undefined) {",
    breaks: "`connections_per_address`, and half of all for this machine itself",
    tests: ["test/lib/door/connections/connections.test.ts", walked, program],
  }),
  without("connection_rate", {
    file: "lib/door/connections/arrivals.ts",
    find: "      return false;",
    replace: "      return true;",
    breaks: "Beyond that they are closed (`connection_rate`)",
    tests: ["test/lib/door/connections/arrivals.test.ts", walked, program],
  }),
  without("idle", {
    file: "lib/door/connections/connections.ts",
    find: "      this.#makeRoom(); // for one",
    replace: "      // for one",
    breaks: "each newcomer has the connection closed that is idle for longest in the network with most idle ones",
    tests: ["test/lib/door/connections/connections.test.ts", walked],
  }),
  without("silent", {
    file: "lib/door/connections/connections.ts",
    find: "      if (socket.bytesRead === 0) {\n        this.#refuse",
    replace: "      if (socket.bytesRead < 0) {\n        this.#refuse",
    breaks: "A connection that sends nothing is closed (`silent`)",
    tests: ["test/lib/door/connections/connections.test.ts", walked],
  }),
  without("head", {
    of: "of size",
    file: "lib/door/http-server.ts",
    find: "const maxHeaderSize = 32 * 1024;",
    replace: "const maxHeaderSize = 1024 * 1024;",
    breaks: "**A head**: 32 KiB, in `header_timeout_s`",
    tests: ["test/lib/door/http-server.test.ts", walked],
  }),
  without("head", {
    of: "of those that can be read in two ways",
    file: "lib/door/http-server.ts",
    find: "    const fault = findHeadFault(request);",
    replace: "    const fault = undefined as ReturnType<typeof findHeadFault>;",
    breaks: "400 for one that another server could read in another way",
    tests: ["test/lib/door/http-server.test.ts", walked],
  }),
  without("pipeline", {
    file: "lib/door/pipeline.ts",
    find: "!this.#networks.add(network, most)",
    replace: "!this.#networks.add(network, Number.POSITIVE_INFINITY)",
    breaks: "answered one at a time; 32 may wait on the connections of a /24 or /56",
    tests: ["test/lib/door/pipeline.test.ts", walked],
  }),
  {
    name: "no listener has a network's new connections take turns of the event loop",
    worlds: [],
    file: "lib/door/door.ts",
    find: "this.#arriving.take(address, this.#owes(address) ? 1 : most, act);",
    replace: "act();",
    breaks: "has eight new connections taken in, and one broken one ended, in a turn of the event loop",
    tests: ["test/lib/door/turns.test.ts", inTurns],
  },
  {
    name: "no listener has the requests of a network that owes take turns of the event loop",
    worlds: [],
    file: "lib/door/door.ts",
    find: "this.#beginning.take(address, 1, act);",
    replace: "act();",
    breaks: "it begins one request or call a turn",
    tests: [inTurns],
  },
  without("requests_per_address", {
    file: "facades/http/connection/proxied-requests.ts",
    find: "if (!this.#counts.add(network, this.#most)) {",
    replace: "if (!this.#counts.add(network, Number.POSITIVE_INFINITY)) {",
    breaks: "`connections_per_address` under way of a client, then 429 (`requests_per_address`)",
    tests: [floods("connections")],
  }),
  without("calls", {
    file: "lib/door/door.ts",
    find: "if (!this.#calls.add(payer, this.#callsPerPayer)) {",
    replace: "if (!this.#calls.add(payer, Number.POSITIVE_INFINITY)) {",
    breaks: "| `calls` | – | 2,048 | 2,048 | 2,048 | – | – | – |",
    tests: [calls],
  }),
  without("rate", {
    file: "src/wire/interceptors/access/authenticate.ts",
    find: '    if (wait !== undefined) {\n      refused(head.contextValues.get(listenerKey), "rate");',
    replace: '    if (wait === -1) {\n      refused(head.contextValues.get(listenerKey), "rate");',
    breaks: "Then 429 (`rate`)",
    tests: [calls, program],
  }),
  without("credentials", {
    file: "src/wire/interceptors/access/authenticate.ts",
    find: "        const wait = attempts.count(address);",
    replace: "        const wait = undefined as number | undefined;",
    breaks: "30 a minute of an address, then 429 (`credentials`)",
    tests: [calls, program],
  }),
  without("refusals", {
    of: "over HTTP",
    file: "lib/door/paced-response.ts",
    find: 'return isRefusal(status) ? "refusals" : otherwise;',
    replace: "return isRefusal(status) ? undefined : otherwise;",
    breaks: refusals,
    tests: ["test/lib/door/paced-response.test.ts", walked, program],
  }),
  without("refusals", {
    of: "over gRPC",
    file: "src/wire/grpc/server/in-turn.ts",
    find: '  inTurn("refusals", call, door);',
    replace: "  call.act();",
    breaks: refusals,
    tests: ["test/wire/grpc/server/in-turn.test.ts", walked, program],
  }),
  without("uncounted", {
    of: "over HTTP",
    file: "lib/door/paced-response.ts",
    find: 'isCounted ? undefined : "uncounted";',
    replace: "undefined;",
    breaks: uncounted,
    tests: ["test/lib/door/paced-response.test.ts", walked, program],
  }),
  without("uncounted", {
    of: "of health checks over gRPC",
    file: "src/wire/grpc/server/guard-calls.ts",
    find: "if (method.parent.typeName === Health.typeName) {",
    replace: "if (method.parent.typeName === Health.name) {",
    breaks: uncounted,
    tests: ["test/wire/grpc/server/in-turn.test.ts", walked, program],
  }),
  without("uncounted", {
    of: "of gRPC's reflection",
    file: "src/wire/grpc/server/reflection.ts",
    find: '        await turnOf(values.get(peerKey) ?? "", door);\n',
    replace: "",
    breaks: "each answer of gRPC's reflection",
    tests: ["test/wire/grpc/server/in-turn.test.ts", program],
  }),
  without("bodies", {
    of: "over HTTP",
    file: "facades/http/request/body-budget.ts",
    find: "if (bytes > this.#left || !share.hasRoom(owner, bytes)) {",
    replace: "if (bytes === -1) {",
    breaks: "of which a client without a key has an eighth and an account a quarter; then 503 or 529 (`bodies`)",
    tests: [floods("bodies"), program],
  }),
  without("bodies", {
    of: "of calls and payment events",
    file: "src/wire/grpc/server/receiving.ts",
    find: "if (this.#total + bytes > room || taken > payerBytes) {",
    replace: "if (taken === -1) {",
    breaks: "| `bodies` | `body_memory_mib` | 256 MiB | 256 MiB | 256 MiB | 32 MiB | – | – |",
    tests: [calls],
  }),
  without("slow_body", {
    of: "over HTTP",
    file: "facades/http/request/body-pace.ts",
    find: "    return received < ",
    replace: "    return -1 > ",
    breaks: "`min_body_rate` after 10 s, and `body_timeout_s` in all; then 408 (`slow_body`)",
    tests: [floods("bodies")],
  }),
  without("slow_body", {
    of: "of calls and payment events",
    file: "src/wire/grpc/server/receiving.ts",
    find: "    return bytes < ((age - graceMs) / 1000) * bytesPerSecond;",
    replace: "    return false;",
    breaks: "| `slow_body` | `min_body_rate` | 1 KiB/s | 1 KiB/s | 1 KiB/s | 1 KiB/s | – | – |",
    tests: [calls],
  }),
  without("unwanted", {
    file: "lib/door/drain.ts",
    find: "      if (waitMs > 0) {",
    replace: "      if (waitMs < 0) {",
    breaks:
      "of an address 4 MiB/s are read, after 8 MiB at once, and four times as much for those networks (`unwanted`)",
    tests: ["test/lib/door/drain.test.ts", walked, program],
  }),
  without("slow_reader", {
    of: "of time",
    file: "lib/net/unread-answers.ts",
    find: "        if (answer.isLate(now - since)) {",
    replace: "        if (now < since) {",
    breaks: unread,
    tests: ["test/lib/net/unread-answers.test.ts", "test/lib/door/http-server.test.ts", calls],
  }),
  without("slow_reader", {
    of: "of memory",
    file: "lib/net/unread-answers.ts",
    find: "    while (this.#bytes > this.#mostBytes && this.#since.size > 1) {",
    replace: "    while (this.#bytes < 0) {",
    breaks: "beyond that the oldest answer of the client with most of it gives way (`slow_reader`)",
    tests: ["test/lib/net/unread-answers.test.ts", floods("unread-answers")],
  }),
  without("overload", {
    file: "facades/http/middleware/admit.ts",
    find: "    if (overload.shortage !== undefined) {",
    replace: "    if (overload === undefined) {",
    breaks: "the process refuses new requests: 503 on the chat-style surface, 529 on the messages-style one",
    tests: [floods("overload")],
  }),
];
