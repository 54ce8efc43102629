import type { SessionFinder } from "../../src/accounts/interface.ts";

/** A console that nobody is signed in to. */
export const noSessions: SessionFinder = { isToken: () => false, find: async () => undefined };
