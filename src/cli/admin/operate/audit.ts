import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import { count, moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { auditDocument } from "../output/documents.ts";

interface AuditFilter {
  readonly from?: Date;
  readonly to?: Date;
  readonly target?: string;
  readonly operator?: string;
  readonly limit: number;
}

/** `tollgate audit …` */
export function addAudit(program: Command, io: Io): void {
  const group = program
    .command("audit")
    .description("what operators have changed, their sign-ins, and what was refused to them");

  addQuestion<[], AuditFilter>(group, "list", io, {
    description: "list changes, newest first",
    options: (command) =>
      command
        .option("--from <time>", "only changes at or after this time", moment)
        .option("--to <time>", "only changes before this time", moment)
        .option("--target <id>", "only changes of what has this id")
        .option("--operator <name>", "only changes by this operator or person")
        .option("--limit <n>", "the most changes", count, 100),
    ask: async (core, { from, to, target = "", operator = "", limit }) => {
      const client = createClient(AuditService, core);
      const filter = {
        ...{ target, operator },
        ...(from && { from: timestampFromDate(from) }),
        ...(to && { to: timestampFromDate(to) }),
      };
      const found = await readAll(
        (page) => client.listAuditEvents({ ...filter, ...page }),
        ({ auditEvents }) => auditEvents,
        limit,
      );
      return found.map(auditDocument);
    },
  });
}
