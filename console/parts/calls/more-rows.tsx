import { useState } from "preact/hooks";
import { ActionButton } from "../forms/action-button.tsx";
import { type Query, useQuery } from "./use-query.ts";

/** One page of one of the contract's lists. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** The token of the next page. Empty: this is the last page. */
  readonly next: string;
}

/** A list that is loaded page by page. */
export interface Pages<Row> extends Query<readonly Row[]> {
  readonly hasMore: boolean;
  readonly loadMore: () => Promise<void>;
}

/** Loads the first page of a list, and further pages on request. A change of `version` loads again. */
export function usePages<Row>(
  ask: (pageToken: string, signal: AbortSignal) => Promise<ListPage<Row>>,
  dependencies: readonly unknown[],
  version?: unknown,
): Pages<Row> {
  const first = useQuery((signal) => ask("", signal), dependencies, undefined, version);
  const [loaded, setLoaded] = useState<Further<Row> | undefined>(undefined);
  const further = loaded?.after === first.data ? loaded : undefined;
  const next = (further ?? first.data)?.next ?? "";
  return {
    data: first.data && [...first.data.rows, ...(further?.rows ?? [])],
    error: first.error,
    reload: first.reload,
    hasMore: next !== "",
    loadMore: async () => {
      const page = await ask(next, new AbortController().signal);
      setLoaded({ after: first.data, rows: [...(further?.rows ?? []), ...page.rows], next: page.next });
    },
  };
}

/** The pages after a first one. Where another first page has come meanwhile, they are none of its list. */
interface Further<Row> extends ListPage<Row> {
  readonly after: ListPage<Row> | undefined;
}

interface Props<Row> {
  readonly pages: Pages<Row>;
  /** Describes the count, such as "3 accounts". */
  readonly describe: (count: number) => string;
}

/** Shows how many rows there are, and a button for more of them, which a page without a row may have, too. */
export function MoreRows<Row>({ pages, describe }: Props<Row>) {
  const count = pages.data?.length ?? 0;
  if (count === 0 && !pages.hasMore) {
    return null;
  }
  return (
    <div class="below-table">
      <span>
        {describe(count)}
        {pages.hasMore && " so far"}
      </span>
      {pages.hasMore && (
        <ActionButton isSmall act={pages.loadMore}>
          {count === 0 ? "Look further back" : "Show more"}
        </ActionButton>
      )}
    </div>
  );
}
