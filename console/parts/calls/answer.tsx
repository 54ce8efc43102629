import type { ComponentChildren } from "preact";
import { isFinal, toMessage } from "../../contract/failure.ts";
import type { Query } from "./use-query.ts";

interface Props<Data> {
  readonly query: Query<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** What was asked for, once it is there; else that it is on its way, or why it is not coming. */
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

/** Why something did not work. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{toMessage(error)}</p>
      {retry && !isFinal(error) && (
        <button type="button" class="small-button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** There is nothing yet: what that means and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="muted">{children}</div>}
    </div>
  );
}
