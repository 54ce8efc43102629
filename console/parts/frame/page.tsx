import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { isolate } from "../../../lib/text/isolate.ts";
import { readAge } from "../../contract/age.ts";
import { siteName } from "../../contract/site.ts";
import { Name } from "../figures/name.tsx";
import { Time } from "../figures/time.tsx";

interface Props {
  /** The page's name: its only h1, and the tab's title. */
  readonly title: string;
  /** More about the page beside its name: a state, an id. */
  readonly aside?: ComponentChildren;
  /** The page's actions. */
  readonly actions?: ComponentChildren;
  /** The link back, above the name. */
  readonly parent?: { readonly name: string; readonly path: string };
  /** One sentence below the name. */
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame and heading of every page. */
export function Page({ title, aside, actions, parent, lead, children }: Props) {
  useEffect(() => {
    document.title = `${isolate(title)} · ${siteName()}`;
  }, [title]);
  return (
    <>
      <div class="page-head">
        <div class="page-name">
          {parent && (
            <a class="parent" href={parent.path}>
              {parent.name}
            </a>
          )}
          <div class="title-row">
            <h1 tabIndex={-1}>
              <Name text={title} />
            </h1>
            {aside}
          </div>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
      <AsOf />
    </>
  );
}

/** Says how old the page is where a standby told what it shows. */
function AsOf() {
  const at = readAge();
  return at === undefined ? null : (
    <p class="muted">
      As of <Time at={timestampFromDate(at)} />: a standby told it.
    </p>
  );
}

/** A part of a page with its own heading. */
export function Section({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
