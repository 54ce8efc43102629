import type { ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { OperatorSchema } from "#gen/tollgate/operators/v1/operator_pb.js";
import type { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import { readPage } from "#lib/rpc/pages.ts";
import type { Operators } from "#src/identity/operators/operators.ts";
import { readOperator, readTokenHolder } from "#src/wire/interceptors/access/principal.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";
import { operatorMessage, readRole } from "./messages.ts";

/** The name of the configured token's operator. */
export const rootName = "root";

interface Dependencies {
  readonly operators: Operators;
  /** Tells this core that an operator has changed. The others know within ten seconds. */
  readonly changed: () => void;
  /** Ends an operator's sessions, and the keys that they made. */
  readonly endSessions: (operatorId: string) => Promise<void>;
}

/** Manages operators with tokens of their own. */
export function createOperatorsService(deps: Dependencies): ServiceImpl<typeof OperatorsService> {
  const { operators, changed, endSessions } = deps;
  return {
    async createOperator({ name, role }, context) {
      const { id: by } = readTokenHolder(context);
      const named = readRole(role);
      if (named === undefined) {
        throw invalid("role", "role must be one that operators have.");
      }
      if (name.trim() !== name) {
        throw invalid("name", "name must have no spaces at its ends: the audit log shows it.");
      }
      if (name.toLowerCase() === rootName) {
        throw invalid("name", `${rootName} is the operator of the configured token: take another name.`);
      }
      const { operator, token } = await operators.create(name, named, by);
      changed();
      return { operator: operatorMessage(operator), token };
    },

    async listOperators(request) {
      const { entries, nextPageToken } = await readPage(
        "operators",
        request,
        (start) => operators.list(start),
        ({ id }) => id,
        isUuid,
      );
      return { operators: entries.map(operatorMessage), nextPageToken };
    },

    async revokeOperator({ operatorId }, context) {
      if (!isUuid(operatorId)) {
        throw failure(Reason.OPERATOR_NOT_FOUND, "There is no such operator.", { parameter: "operator_id" });
      }
      const before = await operators.get(operatorId);
      noteBefore(context, OperatorSchema, operatorMessage(before));
      const operator = await operators.revoke(operatorId);
      changed();
      await endSessions(operatorId);
      return { operator: operatorMessage(operator) };
    },

    async identifyOperator(_, context) {
      const { id, name, role } = readOperator(context);
      return { operator: id === "" ? { name, role } : operatorMessage(await operators.get(id)) };
    },
  };
}
