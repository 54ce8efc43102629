import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatCount } from "../../format/numbers.ts";

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly children: (shown: readonly Row[]) => ComponentChildren;
}

const atOnce = 50;
const growth = 4;

/** The first rows of a loaded list, and a button for more: a browser takes long to lay out thousands of rows. */
export function FirstRows<Row>({ rows, children }: Props<Row>) {
  const [most, setMost] = useState(atOnce);
  return (
    <>
      {children(rows.slice(0, most))}
      {rows.length > most && (
        <div class="below-table">
          <span>
            The first {formatCount(most)} of {formatCount(rows.length)}
          </span>
          <button type="button" class="small-button" onClick={() => setMost(most * growth)}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}
