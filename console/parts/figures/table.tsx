import type { ComponentChildren } from "preact";

/** One column of a table. */
export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ComponentChildren;
  /** Numbers are right-aligned, so that their digits align. */
  readonly isNumber?: boolean;
  /** Whether its cells name the rows. */
  readonly isHeader?: boolean;
  /** Optional columns are left out where there is no room. */
  readonly isOptional?: boolean;
  /** Whether only screen readers get the column's name: that of what can be done with a row, which stays in sight. */
  readonly isNameHidden?: boolean;
}

interface Props<Row> {
  /** What the table lists, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Sums below the rows, one for each column. */
  readonly foot?: readonly ComponentChildren[];
  /** Rows that are no longer in effect are dimmed. */
  readonly isDimmed?: (row: Row) => boolean;
}

/** The console's only kind of table. It scrolls sideways on narrow screens. */
export function Table<Row>({ caption, columns, rows, keyOf, foot, isDimmed }: Props<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="table-box" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.isNameHidden ? <span class="visually-hidden">{column.name}</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isDimmed?.(row) ? "dimmed" : undefined}>
              {columns.map((column) =>
                column.isHeader ? (
                  <th key={column.name} scope="row" class={classOf(column)}>
                    {column.show(row)}
                  </th>
                ) : (
                  <td key={column.name} class={classOf(column)}>
                    {column.show(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
        {foot && (
          <tfoot>
            <tr>
              {columns.map((column, index) => (
                <td key={column.name} class={classOf(column)}>
                  {foot[index]}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

function classOf<Row>({ isNumber, isOptional, isNameHidden }: Column<Row>): string | undefined {
  const classes = [isNumber && "number", isOptional && "optional", isNameHidden && "in-sight"];
  return classes.filter(Boolean).join(" ") || undefined;
}
