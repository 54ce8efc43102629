import type { Session } from "#gen/tollgate/sessions/v1/session_pb.js";
import { say } from "../../../app/said.tsx";
import { mayOwn } from "../../../app/session.ts";
import { sessions } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { ActionButton } from "../../../parts/forms/action-button.tsx";

/** Who is signed in to the console. Owners end sessions. */
export function Sessions() {
  const pages = usePages<Session>(async (pageToken, signal) => {
    const answer = await sessions.listSessions({ pageToken, pageSize: 100 }, { signal });
    return { rows: answer.sessions, next: answer.nextPageToken };
  }, []);
  const end = async ({ id }: Session): Promise<void> => {
    await sessions.endSessions({ sessionId: id }).finally(pages.reload);
    say("The session has ended.");
  };
  const ending = {
    name: "End the session",
    isNameHidden: true,
    show: (session: Session) => (
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
              keyOf={(session) => session.id}
              columns={[
                {
                  name: "Who",
                  isHeader: true,
                  show: (session) => <Clip text={session.operatorName || session.accountId} />,
                },
                { name: "Since", isNumber: true, show: (session) => <Time at={session.createdAt} /> },
                { name: "Until", isNumber: true, isOptional: true, show: (session) => <Time at={session.expiresAt} /> },
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
