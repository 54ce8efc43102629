import { useState } from "preact/hooks";
import type { DeadLetter } from "#gen/tollgate/metering/v1/dead_letter_pb.js";
import { mayBill } from "../../../app/session.ts";
import { books } from "../../../contract/clients.ts";
import { countOf } from "../../../format/numbers.ts";
import { Answer, Empty } from "../../../parts/calls/answer.tsx";
import { MoreRows, usePages } from "../../../parts/calls/more-rows.tsx";
import { Clip } from "../../../parts/figures/clip.tsx";
import { Table } from "../../../parts/figures/table.tsx";
import { Time } from "../../../parts/figures/time.tsx";
import { Section } from "../../../parts/frame/page.tsx";
import { LetterActions } from "./letter-actions.tsx";

/** Charges that could not be stored, and wait for an operator's decision. */
export function DeadLetters() {
  const [version, setVersion] = useState(0);
  const pages = usePages<DeadLetter>(
    async (pageToken, signal) => {
      const answer = await books.listDeadLetters({ pageToken, pageSize: 50 }, { signal });
      return { rows: answer.deadLetters, next: answer.nextPageToken };
    },
    [],
    version,
  );
  const actions = {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    show: (letter: DeadLetter) => <LetterActions letter={letter} onChanged={() => setVersion(version + 1)} />,
  };
  return (
    <Section title="Charges that could not be made">
      <Answer query={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There are none">A charge that the books refuse would wait here for you to decide.</Empty>
          ) : (
            <Table
              caption="Charges that could not be made"
              rows={rows}
              keyOf={(letter) => letter.id}
              columns={[
                { name: "Request", isHeader: true, show: (letter) => <code>{letter.requestId}</code> },
                { name: "Why", show: (letter) => letter.reason },
                { name: "Model", isOptional: true, show: (letter) => <Clip text={letter.model} /> },
                { name: "Input", isNumber: true, show: (letter) => String(letter.inputTokens) },
                { name: "Output", isNumber: true, show: (letter) => String(letter.outputTokens) },
                { name: "Given up", isNumber: true, isOptional: true, show: (letter) => <Time at={letter.at} /> },
                ...(mayBill.value ? [actions] : []),
              ]}
            />
          )
        }
      </Answer>
      <MoreRows pages={pages} describe={(count) => countOf(count, "charge")} />
    </Section>
  );
}
