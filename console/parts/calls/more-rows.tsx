import { useEffect, useState } from "preact/hooks";
import { Failure } from "./answer.tsx";
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
  const [further, setFurther] = useState<ListPage<Row> | undefined>(undefined);
  useEffect(() => setFurther(undefined), [first.data]);
  const next = (further ?? first.data)?.next ?? "";
  return {
    data: first.data && [...first.data.rows, ...(further?.rows ?? [])],
    error: first.error,
    reload: first.reload,
    hasMore: next !== "",
    loadMore: async () => {
      const page = await ask(next, new AbortController().signal);
      setFurther({ rows: [...(further?.rows ?? []), ...page.rows], next: page.next });
    },
  };
}

interface Props<Row> {
  readonly pages: Pages<Row>;
  /** Describes the count, such as "3 accounts". */
  readonly describe: (count: number) => string;
}

/** Shows how many rows there are, and a button for more of them. */
export function MoreRows<Row>({ pages, describe }: Props<Row>) {
  const [error, setError] = useState<unknown>(undefined);
  const count = pages.data?.length ?? 0;
  if (count === 0) {
    return null;
  }
  const load = async (): Promise<void> => {
    setError(undefined);
    await pages.loadMore().catch(setError);
  };
  return (
    <div class="below-table">
      <span>
        {describe(count)}
        {pages.hasMore && " so far"}
      </span>
      {pages.hasMore && (
        <button type="button" class="small-button" onClick={() => void load()}>
          Show more
        </button>
      )}
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}
