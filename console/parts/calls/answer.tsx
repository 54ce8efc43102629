import type { ComponentChildren } from "preact";
import { isFinal, toMessage } from "../../contract/failure.ts";
import type { Query } from "./use-query.ts";

interface Props<Data> {
  readonly query: Query<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** Shows a query's data once loaded. Until then shows that it is loading, or why it failed. */
export function Answer<Data>({ query, children }: Props<Data>) {
  if (query.data !== undefined) {
    return <>{children(query.data)}</>;
  }
  if (query.error !== undefined) {
    return <Failure error={query.error} retry={query.reload} />;
  }
  return (
    <p class="loading" aria-hidden="true">
      Loading…
    </p>
  );
}

/** Shows why something failed. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{toMessage(error, retry !== undefined)}</p>
      {retry && !isFinal(error) && (
        <button type="button" class="small-button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shown for an empty list: what that means and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="muted">{children}</div>}
    </div>
  );
}
