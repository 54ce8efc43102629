import { setQuery } from "../../../app/router.ts";
import { isCustomer } from "../../../app/session.ts";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Id } from "../../../parts/figures/copy.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { ReceiptList } from "../../../parts/receipts/receipt-list.tsx";
import { type Filter, readLabel, titleOf } from "../../../parts/usage/groups.ts";
import type { Asked } from "../../../parts/usage/load.ts";
import type { Names } from "../../../parts/usage/names.ts";
import { toEnds } from "../../../parts/usage/span.ts";

interface Props {
  readonly filter: Filter;
  readonly names: Names;
}

/** What the figures are narrowed to: each with its page, and a button that takes it away. */
export function Narrowed({ filter, names }: Props) {
  const set = (["account", "key", "model", "label"] as const).filter((name) => filter[name] !== "");
  return set.length === 0 ? null : (
    <ul class="narrowed">
      {set.map((name) => {
        const path = toPath(name, filter);
        const isItsName = name === "model" || name === "label";
        const shown = <NameOrId id={filter[name]} name={isItsName ? filter[name] : names.get(filter[name])} />;
        return (
          <li key={name}>
            <span class="muted">{titleOf(name)}</span> {path === "" ? shown : <a href={path}>{shown}</a>}
            <button
              type="button"
              class="small-button"
              aria-label={`All ${name}s`}
              onClick={() => setQuery({ [name]: "" })}
            >
              ×
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** The receipts that the figures are the sum of. Shown where something narrows them. */
export function NarrowedReceipts({ asked: { filter, span } }: { readonly asked: Asked }) {
  const { account, key, model } = filter;
  const label = readLabel(filter);
  if (account === "" && key === "" && model === "" && label === undefined) {
    return null;
  }
  const named = {
    ...(account === "" ? {} : { accountId: account }),
    ...(key === "" ? {} : { keyId: key }),
    ...(model === "" ? {} : { model }),
    ...(label && { labelName: label.name, labelValue: label.value }),
  };
  return (
    <Section title="Receipts">
      <ReceiptList filter={{ ...named, ...toEnds(span) }} />
    </Section>
  );
}

/** The page of what is meant. Empty: it has none that the reader knows of. */
function toPath(name: keyof Filter, { account, model }: Filter): string {
  switch (name) {
    case "account":
      return `/accounts/${account}`;
    case "model":
      return `/models/${model}`;
    case "key":
      return account === "" ? (isCustomer.value ? "/keys" : "") : `/keys?account=${account}`;
    case "label":
      return "";
  }
}

export function NameOrId({ id, name }: { readonly id: string; readonly name: string | undefined }) {
  return name === undefined ? <Id id={id} /> : <Clip text={name} />;
}
