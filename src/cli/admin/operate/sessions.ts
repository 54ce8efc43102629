import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { sessionDocument } from "../output/documents.ts";

/** `tollgate sessions …` */
export function addSessions(program: Command, io: Io): void {
  const group = program.command("sessions").description("who is signed in to the console");
  const client = (core: Transport) => createClient(SessionsService, core);

  addQuestion<[], { account?: string }>(group, "list", io, {
    description: "list sessions that have not ended, oldest first",
    options: (command) => command.option("--account <account>", "only those of this account"),
    ask: async (core, { account: accountId = "" }) =>
      (
        await readAll(
          (page) => client(core).listSessions({ accountId, ...page }),
          ({ sessions }) => sessions,
        )
      ).map(sessionDocument),
  });
  addQuestion<[string], object>(group, "end <session>", io, {
    description: "end a session and the keys it made, everywhere within 10 seconds",
    ask: async (core, _, sessionId) => {
      const { ended } = await client(core).endSessions({ sessionId });
      return { ended };
    },
  });
  addQuestion<[string], object>(group, "end-all <account>", io, {
    description: "end all sessions of an account and the keys they made, everywhere within 10 seconds",
    ask: async (core, _, accountId) => {
      const { ended } = await client(core).endSessions({ accountId });
      return { ended };
    },
  });
}
