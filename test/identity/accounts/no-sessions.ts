import type { SessionFinder } from "#src/wire/principal.ts";

/** A console that nobody is signed in to. */
export const noSessions: SessionFinder = { isToken: () => false, find: async () => undefined };
