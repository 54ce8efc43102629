import type { ComponentChildren } from "preact";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { setQuery } from "../../app/router.ts";
import { formatCount } from "../../format/numbers.ts";
import { Amount, mostDecimals } from "../../parts/figures/amount.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Section } from "../../parts/page.tsx";
import type { Names } from "./names.ts";
import { costOf, type GroupName, groupOf } from "./view.ts";

/** The sums of one group over the whole period. */
interface Sum {
  readonly name: string;
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly cost: bigint;
}

const titles: Readonly<Record<GroupName, string>> = { account: "Account", key: "Key", model: "Model" };

interface Props {
  readonly rows: readonly UsageRow[];
  readonly group: GroupName;
  readonly names: Names;
}

/** Sums, dearest first; each opens its receipts. */
export function GroupTable({ rows, group, names }: Props) {
  const sums = sumUp(rows, group);
  const decimals = mostDecimals(sums.map(({ cost }) => cost));
  const total = (pick: (sum: Sum) => bigint) => sums.reduce((all, sum) => all + pick(sum), 0n);
  const number = (name: string, pick: (sum: Sum) => bigint) => ({
    name,
    isNumber: true,
    show: (sum: Sum): ComponentChildren => formatCount(pick(sum)),
  });
  return (
    <Section title={`By ${group}`}>
      <Table
        caption={`Usage by ${group}`}
        rows={sums}
        keyOf={({ name }) => name}
        columns={[
          {
            name: titles[group],
            isHeader: true,
            show: ({ name }) => <GroupLabel group={group} name={name} names={names} />,
          },
          {
            name: "Cost",
            isNumber: true,
            show: ({ cost }) => <Amount pico={cost} decimals={decimals} />,
          },
          number("Requests", ({ requests }) => requests),
          number("Input tokens", ({ inputTokens }) => inputTokens),
          number("Output tokens", ({ outputTokens }) => outputTokens),
        ]}
        foot={[
          "In all",
          <Amount key="cost" pico={total(({ cost }) => cost)} name="total" decimals={decimals} />,
          formatCount(total(({ requests }) => requests)),
          formatCount(total(({ inputTokens }) => inputTokens)),
          formatCount(total(({ outputTokens }) => outputTokens)),
        ]}
      />
    </Section>
  );
}

interface LabelProps {
  readonly group: GroupName;
  /** The group's id. */
  readonly name: string;
  readonly names: Names;
}

function GroupLabel({ group, name, names }: LabelProps) {
  if (name === "") {
    return <span class="muted">service tokens</span>;
  }
  return (
    <button type="button" class="link" title="Open its receipts" onClick={() => setQuery({ open: name })}>
      {group === "model" ? name : (names.get(name) ?? <code>{name}</code>)}
    </button>
  );
}

function sumUp(rows: readonly UsageRow[], group: GroupName): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const name = groupOf(row, group);
    const before = sums.get(name);
    sums.set(name, {
      name,
      requests: (before?.requests ?? 0n) + row.requests,
      inputTokens: (before?.inputTokens ?? 0n) + row.inputTokens,
      outputTokens: (before?.outputTokens ?? 0n) + row.outputTokens,
      cost: (before?.cost ?? 0n) + costOf(row),
    });
  }
  return [...sums.values()].sort((one, other) => (one.cost < other.cost ? 1 : -1));
}
