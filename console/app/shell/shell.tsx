import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { siteName } from "../../contract/site.ts";
import { Finder } from "../finder/finder.tsx";
import { PageOutlet } from "../page-outlet.tsx";
import { path } from "../router.ts";
import { Said } from "../said.tsx";
import { isWithoutAccount } from "../session.ts";
import { Banners } from "./banners.tsx";
import { Mark } from "./mark.tsx";
import { Navigation } from "./navigation.tsx";

/** Whether the menu is open on narrow screens, where it covers the page. */
const isMenuOpen = signal(false);

/** The frame of each page: the menu, the banners, and a link for keyboards that skips the menu. */
export function Shell() {
  useEffect(() => {
    isMenuOpen.value = false;
  }, [path.value]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class={isMenuOpen.value ? "sidebar open" : "sidebar"}>
        <div class="sidebar-inner">
          <div class="brand-row">
            <a class="brand" href="/overview">
              <Mark />
              {siteName()}
            </a>
            <button
              type="button"
              class="menu-button"
              aria-expanded={isMenuOpen.value}
              aria-controls="menu"
              onClick={() => {
                isMenuOpen.value = !isMenuOpen.value;
              }}
            >
              Menu
            </button>
          </div>
          {!isWithoutAccount.value && <Finder />}
          <Navigation />
        </div>
      </header>
      <div class="content">
        <Banners />
        <Said />
        <main id="main" tabIndex={-1}>
          <PageOutlet />
        </main>
      </div>
    </div>
  );
}
