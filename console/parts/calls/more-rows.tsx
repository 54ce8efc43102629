import { useEffect, useState } from "preact/hooks";
import { Failure } from "./answer.tsx";
import { type Query, useQuery } from "./use-query.ts";

/** One page of a list of the contract. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Asks for the page after this one. Empty: it is the last. */
  readonly next: string;
}

/** A list that grows page by page. */
export interface Pages<Row> extends Query<readonly Row[]> {
  readonly hasMore: boolean;
  readonly loadMore: () => Promise<void>;
}

/** The first page of a list, and further ones when somebody asks for them. A change of `version` asks again. */
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
  /** Such as "3 accounts". */
  readonly describe: (count: number) => string;
}

/** How many rows are shown, and a button for more of them. */
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
