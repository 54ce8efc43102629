import { holds, type Row } from "./row.ts";

/** `tollgate check` of a server that is as it should be. */
export const checkRow: Row = {
  name: "check",
  async run({ gate }) {
    const { ok, text } = await gate.check();
    holds(text.replaceAll(/\s+/g, " ").slice(0, 300), ok);
    return undefined;
  },
};
