/** The name of the service, as the page's head has it. */
export function siteName(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? "Tollgate";
}

/** The colour of the service's mark. Undefined: Tollgate's. */
export function siteColour(): string | undefined {
  return document.querySelector<HTMLMetaElement>('meta[name="theme-color"]')?.content;
}

/** The address of the service's own logo. Undefined: it has none. */
export function siteLogo(): string | undefined {
  return document.querySelector<HTMLLinkElement>("link#logo")?.href;
}

/** Where the service has its terms, its privacy notice and its support, as far as it says so. */
export function siteLinks(): readonly (readonly [text: string, href: string])[] {
  const relations = [
    ["Terms", "terms-of-service"],
    ["Privacy", "privacy-policy"],
    ["Support", "help"],
  ] as const;
  return relations.flatMap(([text, relation]) => {
    const link = document.querySelector<HTMLLinkElement>(`link[rel="${relation}"]`);
    return link === null ? [] : [[text, link.href] as const];
  });
}
