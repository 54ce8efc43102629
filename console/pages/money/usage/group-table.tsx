import type { ComponentChildren } from "preact";
import { query } from "../../../app/router.ts";
import { formatCount } from "../../../format/numbers.ts";
import { Amount, mostDecimals } from "../../../parts/figures/amount.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { type GroupName, labelOf, nextOf, type SecondName, titleOf } from "../../../parts/usage/groups.ts";
import type { Names } from "../../../parts/usage/names.ts";
import { partOf, type Sum, secondsAt } from "../../../parts/usage/sums.ts";
import { NameOrId } from "./narrowed.tsx";

interface Props {
  readonly rows: readonly Sum[];
  readonly hasMore: boolean;
  /** The sum of all groups. */
  readonly total: Sum;
  readonly first: GroupName;
  readonly second: SecondName | undefined;
  readonly names: Names;
  readonly onMore: () => void;
}

/** Sums, the highest cost first. The total includes groups that are not shown. */
export function GroupTable({ rows, hasMore, total, first, second, names, onMore }: Props) {
  const decimals = mostDecimals([total, ...rows].map(({ cost }) => cost));
  const number = (name: string, pick: (sum: Sum) => bigint) => ({
    name,
    isNumber: true,
    show: (sum: Sum): ComponentChildren => formatCount(pick(sum)),
  });
  const label = (group: GroupName | SecondName) => (sum: Sum) => (
    <Label group={group} sum={sum} first={first} names={names} />
  );
  const by = labelOf(first) === undefined ? first : `label ${labelOf(first)}`;
  const title = second === undefined ? `By ${by}` : `By ${by} and ${second}`;
  return (
    <Section title={title}>
      <Table
        caption={`Usage ${title.toLowerCase()}`}
        rows={rows}
        keyOf={({ accountId, keyId, model, label, time }) => [accountId, keyId, model, time, label].join(" ")}
        columns={[
          { name: titleOf(first), isHeader: true, show: label(first) },
          ...(second === undefined ? [] : [{ name: titleOf(second), show: label(second) }]),
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
          ...(second === undefined ? [] : [""]),
          <Amount key="cost" pico={total.cost} name="total" decimals={decimals} />,
          formatCount(total.requests),
          formatCount(total.inputTokens),
          formatCount(total.outputTokens),
        ]}
      />
      {hasMore && (
        <div class="below-table">
          <span>The {formatCount(rows.length)} that cost most; the sums are of all.</span>
          <button type="button" class="small-button" onClick={onMore}>
            Show more
          </button>
        </div>
      )}
    </Section>
  );
}

interface LabelProps {
  readonly group: GroupName | SecondName;
  readonly sum: Sum;
  readonly first: GroupName;
  readonly names: Names;
}

/** What a sum is of. It looks into the sum, and keeps what narrows the page already. */
function Label({ group, sum, first, names }: LabelProps) {
  const part = partOf(sum, group);
  if (group === "hour" || group === "day") {
    return (
      <a href={toHref(group, sum, first)} title="Look into this time">
        {part.replace("T", " ").slice(0, "2026-11-22 09:00".length)}
      </a>
    );
  }
  const account = group === "key" ? names.get(sum.accountId) : undefined;
  return (
    <div class="two-lines">
      {part === "" && labelOf(group) === undefined ? (
        <span class="muted">service tokens</span>
      ) : (
        <a href={toHref(group, sum, first)} title="Look into it">
          {part === "" ? "without it" : <NameOrId id={part} name={isNameless(group) ? part : names.get(part)} />}
        </a>
      )}
      {account !== undefined && (
        <span class="muted small">
          <Clip text={account} />
        </span>
      )}
    </div>
  );
}

/** Whether what is grouped by stands for itself. */
const isNameless = (group: GroupName | SecondName) => group === "model" || labelOf(group) !== undefined;

/** The page narrowed to a part of a sum, grouped by what comes next. */
function toHref(group: GroupName | SecondName, sum: Sum, first: GroupName): string {
  const next = new URLSearchParams(query.value);
  if (group === "hour" || group === "day") {
    const begun = secondsAt(sum.time) * 1000;
    next.delete("period");
    next.delete("and");
    next.set("from", new Date(begun).toISOString());
    next.set("to", new Date(begun + spanMs[group]).toISOString());
    return `/usage?${next}`;
  }
  const label = labelOf(group);
  next.set(label === undefined ? group : "label", label === undefined ? partOf(sum, group) : `${label}=${sum.label}`);
  if (group === "key" && sum.accountId !== "") {
    next.set("account", sum.accountId);
  }
  if (group === first) {
    const following = nextOf(first);
    next.set("by", following);
    if (next.get("and") === following) {
      next.delete("and");
    }
  }
  return `/usage?${next}`;
}

const spanMs = { hour: 3_600_000, day: 86_400_000 } as const;
