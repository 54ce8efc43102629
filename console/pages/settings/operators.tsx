import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { Operator } from "#gen/tollgate/operators/v1/operator_pb.js";
import { operators } from "../../contract/clients.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer, Empty } from "../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../parts/calls/more-rows.tsx";
import { Badge } from "../../parts/figures/badge.tsx";
import { Clip } from "../../parts/figures/clip.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Time } from "../../parts/figures/time.tsx";

const roles: Readonly<Record<Role, string>> = {
  [Role.UNSPECIFIED]: "none",
  [Role.READER]: "Reader: sees everything, changes nothing",
  [Role.BILLING]: "Billing: accounts, money and keys",
  [Role.OWNER]: "Owner: everything",
};

/** The operators: people and programs with their own tokens. */
export function Operators() {
  const pages = usePages<Operator>(async (pageToken, signal) => {
    const answer = await operators.listOperators({ pageToken, pageSize: 100 }, { signal });
    return { rows: answer.operators, next: answer.nextPageToken };
  }, []);
  return (
    <>
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Only the configured operator token">
              <code>tollgate operators create --name NAME --role reader</code> makes one with a name of its own.
            </Empty>
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
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "operator")} />
    </>
  );
}
