import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { Table } from "../../../parts/figures/table.tsx";
import { Section } from "../../../parts/frame/page.tsx";

/** Rows that do not add up. */
export function Findings({ findings }: { readonly findings: readonly ReconcileFinding[] }) {
  if (findings.length === 0) {
    return null;
  }
  return (
    <Section title="What does not add up">
      <Table
        caption="What does not add up"
        rows={findings}
        keyOf={(finding) => finding.rule + finding.row}
        columns={[
          { name: "Row", isHeader: true, show: (finding) => <code>{finding.row}</code> },
          { name: "Expected and found", show: (finding) => finding.message },
          { name: "Rule", isOptional: true, show: (finding) => finding.rule },
        ]}
      />
    </Section>
  );
}
