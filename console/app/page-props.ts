/** What a page is given: the id in its path. Empty: it has none. */
export interface PageProps {
  readonly id: string;
}
