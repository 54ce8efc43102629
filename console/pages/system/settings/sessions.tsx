import type { Session } from "#gen/tollgate/sessions/v1/session_pb.js";
import { say } from "../../../app/said.tsx";
import { mayOwn } from "../../../app/session.ts";
import { sessions } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { loadAccountNames } from "../../../parts/account/account-names.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";

/** A session, and who it is of: the operator, the person, or the account whose key signed in. Empty: nobody with a name. */
interface Row {
  readonly session: Session;
  readonly who: string;
}

const nameOf = ({ operatorName, personName }: Session) => operatorName || personName;

/** Who is signed in to the console. Owners end sessions. */
export function Sessions() {
  const pages = usePages<Row>(async (pageToken, signal) => {
    const answer = await sessions.listSessions({ pageToken, pageSize: 100 }, { signal });
    const nameless = answer.sessions.filter((session) => nameOf(session) === "");
    const names = await loadAccountNames(
      nameless.map(({ accountId }) => accountId),
      signal,
    );
    const toRow = (session: Session) => ({ session, who: nameOf(session) || names.get(session.accountId) || "" });
    return { rows: answer.sessions.map(toRow), next: answer.nextPageToken };
  }, []);
  const end = async ({ id }: Session): Promise<void> => {
    await sessions.endSessions({ sessionId: id }).finally(pages.reload);
    say("The session has ended.");
  };
  const ending = {
    name: "End the session",
    isNameHidden: true,
    show: ({ session }: Row) => (
      <ActionButton act={() => end(session)} isSmall>
        End
      </ActionButton>
    ),
  };
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nobody is signed in" />
          ) : (
            <Table
              caption="Sessions"
              rows={rows}
              keyOf={({ session }) => session.id}
              columns={[
                {
                  name: "Who",
                  isHeader: true,
                  show: ({ session, who }) => <Clip text={who || session.personId || session.accountId} />,
                },
                { name: "Since", isNumber: true, show: ({ session }) => <Time at={session.createdAt} /> },
                {
                  name: "Until",
                  isNumber: true,
                  isOptional: true,
                  show: ({ session }) => <Time at={session.expiresAt} />,
                },
                ...(mayOwn.value ? [ending] : []),
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "session")} />
    </>
  );
}
