import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { validate as isUuid } from "uuid";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { Operator } from "#gen/tollgate/operators/v1/operator_pb.js";
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
    ask: async (core) => (await listAll(core)).map(operatorDocument),
  });
  addQuestion<[string], object>(group, "revoke <operator>", io, {
    description: "end an operator's token, everywhere within 10 seconds",
    ask: async (core, _, operator) => {
      const operatorId = isUuid(operator) ? operator : await findId(core, operator);
      return operatorDocument(required((await client(core).revokeOperator({ operatorId })).operator));
    },
  });
}

function listAll(core: Transport): Promise<Operator[]> {
  return readAll(
    (page) => createClient(OperatorsService, core).listOperators(page),
    ({ operators }) => operators,
  );
}

/** Of those with one name at most one is not revoked. */
async function findId(core: Transport, name: string): Promise<string> {
  const found = (await listAll(core)).find((one) => one.name === name && one.revokedAt === undefined);
  if (found === undefined) {
    throw new Error(`there is no operator ${name} with a token`);
  }
  return found.id;
}
