import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { SessionSchema } from "#gen/tollgate/sessions/v1/session_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { toMemberRole } from "#src/identity/people/roles.ts";
import type { NewSession } from "#src/identity/sessions/sessions.ts";
import type { ConsoleSession } from "#src/storage/entities/operators/console-session.ts";
import { readClientAddress } from "#src/wire/interceptors/access/client-address.ts";
import type { Dependencies } from "./dependencies.ts";

/** Opens sessions for those whom a way to sign in has confirmed, and describes them. */
export interface Openings {
  /** A session as the contract has it. */
  readonly describe: (session: ConsoleSession) => Promise<MessageInitShape<typeof SessionSchema>>;
  /** A new session with its credentials. */
  readonly opened: (answer: NewSession) => Promise<Opened>;
  /** A new session of whoever holds a credential or a link. An operator's sign-in is noted. */
  readonly openedBy: (answer: NewSession, context: HandlerContext) => Promise<Opened>;
}

/** What is told of a session that has just been opened. */
export type Opened = Pick<NewSession, "token" | "cookie"> & {
  readonly session: MessageInitShape<typeof SessionSchema>;
};

export function createOpenings(deps: Dependencies): Openings {
  const describe = async (session: ConsoleSession): Promise<MessageInitShape<typeof SessionSchema>> => ({
    id: session.id,
    role: session.role ? deps.toRole(session.role) : Role.UNSPECIFIED,
    operatorName: session.role ? await nameOf(session) : "",
    personId: session.personId ?? "",
    ...(session.personId && !session.role && (await describePlace(session.personId, session.accountId))),
    accountId: session.accountId ?? "",
    keyId: session.keyId ?? "",
    expiresAt: timestampFromDate(session.expiresAt),
    createdAt: timestampFromDate(session.createdAt),
  });

  const describePlace = async (personId: string, accountId: string | null | undefined) => {
    const [{ name: personName }, places] = await Promise.all([
      deps.persons.get(personId),
      deps.persons.accountsOf(personId),
    ]);
    const place = places.find((one) => one.accountId === accountId);
    return { personName, ...(place && { memberRole: toMemberRole(place.role) }) };
  };

  const nameOf = async (session: ConsoleSession) => {
    if (session.personId) {
      return deps.findPersonName(session.personId);
    }
    return session.operatorId ? deps.findName(session.operatorId) : deps.rootName;
  };

  const opened = async ({ session, displaced, ...credentials }: NewSession): Promise<Opened> => {
    await deps.finish(displaced);
    return { session: await describe(session), ...credentials };
  };

  /** Notes the sign-in of an operator. */
  const openedBy = async (
    answer: NewSession,
    { requestHeader: header, values: contextValues, method }: HandlerContext,
  ) => {
    const described = await opened(answer);
    const { id, operatorName, role = Role.UNSPECIFIED } = described.session;
    if (role !== Role.UNSPECIFIED) {
      await deps.note({
        operator: String(operatorName),
        operatorId: answer.session.operatorId ?? null,
        keyId: null,
        personId: answer.session.personId ?? null,
        method: `${SessionsService.typeName}/${method.name}`,
        target: String(id),
        before: undefined,
        after: { role: Role[role] },
        address: readClientAddress({ header, contextValues }, deps.trusts),
      });
    }
    return described;
  };

  return { describe, opened, openedBy };
}
