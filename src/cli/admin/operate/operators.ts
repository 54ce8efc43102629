import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { operatorDocument } from "../output/documents.ts";
import { required } from "../required.ts";

const roles = { owner: Role.OWNER, billing: Role.BILLING, reader: Role.READER };

/** `tollgate operators …` */
export function addOperators(program: Command, io: Io): void {
  const group = program.command("operators").description("people and programs with operator tokens of their own");
  const client = (core: Transport) => createClient(OperatorsService, core);

  addQuestion<[], { name: string; role: keyof typeof roles }>(group, "create", io, {
    description: "make an operator and show its token, the only time",
    options: (command) =>
      command
        .requiredOption("--name <name>", "what the audit log calls it")
        .addOption(
          new Option(
            "--role <role>",
            "owner: everything; billing: accounts, their money and keys; reader: sees all, changes nothing",
          )
            .choices(Object.keys(roles))
            .makeOptionMandatory(),
        ),
    ask: async (core, { name, role }) => {
      const { operator, token } = await client(core).createOperator({ name, role: roles[role] });
      return { id: required(operator).id, token };
    },
    note: "The token is shown only now: it is not stored.",
  });
  addQuestion<[], object>(group, "list", io, {
    description: "list operators, revoked ones included",
    ask: async (core) =>
      (
        await readAll(
          (page) => client(core).listOperators(page),
          ({ operators }) => operators,
        )
      ).map(operatorDocument),
  });
  addQuestion<[string], object>(group, "revoke <operator>", io, {
    description: "end an operator's token, everywhere within 10 seconds",
    ask: async (core, _, operatorId) =>
      operatorDocument(required((await client(core).revokeOperator({ operatorId })).operator)),
  });
}
