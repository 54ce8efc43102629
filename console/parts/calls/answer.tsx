import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { isFinal, isLost, toMessage } from "../../contract/failure.ts";
import type { Query } from "./use-query.ts";

interface Props<Data> {
  readonly query: Query<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/**
 * Shows a query's data once loaded. Until then shows that it is loading, or why it failed. What answered another question
 * stays as it was, dimmed and told to be busy, until the next answer comes: nobody takes it for that, and nothing jumps.
 * What could not be asked again stays, too, below the reason. That the connection is lost every page says by itself.
 */
export function Answer<Data>({ query: { data, error, reload }, children }: Props<Data>) {
  const shown = useRef<ComponentChildren>(undefined);
  if (data !== undefined) {
    shown.current = children(data);
  } else if (error !== undefined) {
    shown.current = undefined;
    return <Failure error={error} retry={reload} />;
  }
  return shown.current === undefined ? (
    <p class="loading" aria-hidden="true">
      Loading…
    </p>
  ) : (
    <>
      {error !== undefined && !isLost(error) && <Failure error={error} retry={reload} />}
      <div class="answered" aria-busy={data === undefined}>
        {shown.current}
      </div>
    </>
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
