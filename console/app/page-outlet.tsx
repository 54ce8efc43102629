import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { Page } from "../parts/frame/page.tsx";
import { type Load, loadPage } from "./load-page.ts";
import type { PageProps } from "./page-props.ts";
import { navigate, path } from "./router.ts";
import { findRoute, isAllowed } from "./routes.ts";
import { firstPage } from "./session.ts";

const shown = signal<
  { readonly path: string; readonly id: string; readonly component: ComponentType<PageProps> } | undefined
>(undefined);

/** The page at the current path. Its code is loaded when it is first shown; until then the previous page stays. */
export function PageOutlet() {
  const wanted = path.value;
  const found = findRoute(wanted);
  const isForbidden = found !== undefined && !isAllowed(found.route);
  useEffect(() => {
    if (isForbidden) {
      navigate(firstPage.value, { replace: true });
    } else if (found !== undefined) {
      void show(wanted, found.id, found.route.load);
    }
  }, [wanted, isForbidden]);
  if (found === undefined) {
    return (
      <Page title="There is no such page">
        <p>
          Nothing is at <code>{wanted}</code>. <a href="/overview">Go to the overview</a>.
        </p>
      </Page>
    );
  }
  if (shown.value === undefined) {
    return null;
  }
  const { component: Shown, id } = shown.value;
  return <Shown key={shown.value.path} id={id} />;
}

async function show(wanted: string, id: string, load: Load): Promise<void> {
  const component = await loadPage(wanted, load);
  if (component === undefined || path.peek() !== wanted) {
    return;
  }
  const isFirst = shown.peek() === undefined;
  shown.value = { path: wanted, id, component };
  if (!isFirst) {
    // Screen readers start at the new page's heading.
    requestAnimationFrame(() => document.querySelector("h1")?.focus({ preventScroll: true }));
  }
}
