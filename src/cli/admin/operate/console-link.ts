import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { findConsole } from "../find-console.ts";

const roles = { owner: Role.OWNER, billing: Role.BILLING, reader: Role.READER };

interface LinkOptions {
  readonly role?: keyof typeof roles;
  readonly url?: string;
  readonly ca?: string;
}

/** `tollgate console-link` */
export function addConsoleLink(program: Command, io: Io): void {
  addQuestion<[], LinkOptions>(program, "console-link", io, {
    description: "make a link that signs an operator in to the console, once and within ten minutes",
    options: (command) =>
      command
        .addOption(
          new Option(
            "--role <role>",
            "the role of whoever follows the link; that of the token used here unless set",
          ).choices(Object.keys(roles)),
        )
        .option("--url <url>", "where browsers find the console; that of the core on the data directory unless set"),
    ask: async (core, options) => {
      const url = options.url?.replace(/\/$/, "") ?? (await findConsole(io.environment, options));
      const role = options.role === undefined ? Role.UNSPECIFIED : roles[options.role];
      const { token, expiresAt } = await createClient(SessionsService, core).createSignInLink({ role });
      return { url: `${url}/link/${token}`, expires_at: expiresAt ? timestampDate(expiresAt).toISOString() : null };
    },
  });
}
