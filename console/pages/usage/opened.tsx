import { useMemo } from "preact/hooks";
import { query, setQuery } from "../../app/router.ts";
import { Section } from "../../parts/page.tsx";
import { ReceiptList } from "../../parts/receipts/receipt-list.tsx";
import type { Names } from "./names.ts";
import type { GroupName } from "./view.ts";

const fields = { account: "accountId", key: "keyId", model: "model" } as const;

interface Props {
  readonly group: GroupName;
  readonly names: Names;
  readonly from: Date;
}

/** The receipts behind a sum. */
export function Opened({ group, names, from }: Props) {
  const open = query.value.get("open") ?? "";
  const since = useMemo(() => ({ seconds: BigInt(Math.floor(from.getTime() / 1000)) }), [from]);
  if (open === "") {
    return null;
  }
  return (
    <Section
      title={`Receipts of ${names.get(open) ?? open}`}
      actions={
        <button type="button" class="small-button" onClick={() => setQuery({ open: "" })}>
          Close
        </button>
      }
    >
      <ReceiptList filter={{ [fields[group]]: open, from: since }} />
    </Section>
  );
}
