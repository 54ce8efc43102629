import type { ComponentChildren } from "preact";
import { setQuery } from "../../app/router.ts";
import { formatCount } from "../../format/numbers.ts";
import { Id } from "../../parts/copy.tsx";
import { Amount, mostDecimals } from "../../parts/figures/amount.tsx";
import { Clip } from "../../parts/figures/clip.tsx";
import { Table } from "../../parts/figures/table.tsx";
import { Section } from "../../parts/page.tsx";
import type { Used } from "./load.ts";
import type { Names } from "./names.ts";
import type { GroupName, Sum } from "./view.ts";

const titles: Readonly<Record<GroupName, string>> = { account: "Account", key: "Key", model: "Model" };

interface Props {
  readonly used: Used;
  /** The sum of all groups. */
  readonly total: Sum;
  readonly group: GroupName;
  readonly names: Names;
  readonly onMore: () => void;
}

/** Sums, the highest cost first. Each opens its receipts. The total includes groups that are not shown. */
export function GroupTable({ used: { sums, hasMore }, total, group, names, onMore }: Props) {
  const decimals = mostDecimals([total, ...sums].map(({ cost }) => cost));
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
        keyOf={({ id, accountId }) => `${accountId} ${id}`}
        columns={[
          {
            name: titles[group],
            isHeader: true,
            show: (sum) => <GroupLabel group={group} sum={sum} names={names} />,
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
          <Amount key="cost" pico={total.cost} name="total" decimals={decimals} />,
          formatCount(total.requests),
          formatCount(total.inputTokens),
          formatCount(total.outputTokens),
        ]}
      />
      {hasMore && (
        <div class="below-table">
          <span>The {formatCount(sums.length)} that cost most; the sums are of all.</span>
          <button type="button" class="small-button" onClick={onMore}>
            Show more
          </button>
        </div>
      )}
    </Section>
  );
}

interface LabelProps {
  readonly group: GroupName;
  readonly sum: Sum;
  readonly names: Names;
}

function GroupLabel({ group, sum: { id, accountId }, names }: LabelProps) {
  const account = names.get(accountId);
  const below = group === "key" && account !== undefined && (
    <span class="muted small">
      <Clip text={account} />
    </span>
  );
  if (id === "") {
    return (
      <div class="two-lines">
        <span class="muted">service tokens</span>
        {below}
      </div>
    );
  }
  return (
    <div class="two-lines">
      <button type="button" class="link" title="Open its receipts" onClick={() => setQuery({ open: id })}>
        <NameOrId id={id} name={group === "model" ? id : names.get(id)} />
      </button>
      {below}
    </div>
  );
}

function NameOrId({ id, name }: { readonly id: string; readonly name: string | undefined }) {
  return name === undefined ? <Id id={id} /> : <Clip text={name} />;
}
