import { holds, type Row } from "./row.ts";

/** What tells that a server is healthy and which models it has. */
const listings = ["/v1/models", "/health", "/api/version"];

/** `tollgate check` of a server that is as it should be. */
export const checkRow: Row = {
  name: "check",
  async run({ gate, tee, keep }) {
    const { ok, text } = await gate.check();
    const wrong = text.split("\n").filter((line) => line.includes("wrong"));
    holds(wrong.join("; ").replaceAll(/\s+/g, " ").slice(0, 300), ok);
    for (const path of listings) {
      const exchange = tee.latest(path);
      if (exchange !== undefined) {
        keep(`${path.split("/").at(-1)} ${exchange.status}`, exchange);
      }
    }
    return undefined;
  },
};
