import { useState } from "preact/hooks";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { Operator } from "#gen/tollgate/operators/v1/operator_pb.js";
import { say } from "../../../app/said.tsx";
import { mayOwn } from "../../../app/session.ts";
import { operators } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Badge } from "../../../parts/figures/badge.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Name } from "../../../parts/figures/name.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Confirm } from "./confirm.tsx";

const roles: Readonly<Record<Role, string>> = {
  [Role.UNSPECIFIED]: "none",
  [Role.READER]: "Reader: sees everything, changes nothing",
  [Role.BILLING]: "Billing: accounts, money and keys",
  [Role.OWNER]: "Owner: everything",
};

/** The operators: people and programs with their own tokens. Owners revoke them. */
export function Operators() {
  const [revoked, setRevoked] = useState<Operator | undefined>(undefined);
  const pages = usePages<Operator>(async (pageToken, signal) => {
    const answer = await operators.listOperators({ pageToken, pageSize: 100 }, { signal });
    return { rows: answer.operators, next: answer.nextPageToken };
  }, []);
  const revoke = async ({ id }: Operator): Promise<void> => {
    await operators.revokeOperator({ operatorId: id });
    setRevoked(undefined);
    pages.reload();
    say("The operator's token is revoked.");
  };
  const actions = {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    show: (operator: Operator) =>
      operator.revokedAt === undefined && (
        <button
          type="button"
          class="small-button"
          aria-label={`Revoke ${operator.name}`}
          onClick={() => setRevoked(operator)}
        >
          Revoke
        </button>
      ),
  };
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Only the configured operator token" />
          ) : (
            <Table
              caption="Operators"
              rows={rows}
              keyOf={(operator) => operator.id}
              isDimmed={(operator) => operator.revokedAt !== undefined}
              columns={[
                { name: "Name", isHeader: true, show: (operator) => <Clip text={operator.name} /> },
                { name: "Role", show: (operator) => roles[operator.role] },
                {
                  name: "State",
                  show: ({ revokedAt }) =>
                    revokedAt === undefined ? <Badge tone="good">Active</Badge> : <Badge>Revoked</Badge>,
                },
                {
                  name: "Created",
                  isNumber: true,
                  isOptional: true,
                  show: (operator) => <Time at={operator.createdAt} />,
                },
                ...(mayOwn.value ? [actions] : []),
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "operator")} />
      <p class="muted small below-note">
        <code>tollgate operators create --name NAME --role reader</code> makes one, and another role is another
        operator: a session makes no token that would outlive it.
      </p>
      {revoked && (
        <Confirm
          title={
            <>
              Revoke <Name text={revoked.name} />
            </>
          }
          verb="Revoke"
          act={() => revoke(revoked)}
          onClose={() => setRevoked(undefined)}
        >
          Its token and its sessions end, here at once and everywhere within ten seconds. They do not come back.
        </Confirm>
      )}
    </>
  );
}
