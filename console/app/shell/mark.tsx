import { siteColour, siteLogo } from "../../contract/site.ts";

/** The service's own logo, or else Tollgate's: a gate's post and its arm. */
export function Mark() {
  const logo = siteLogo();
  return logo !== undefined ? (
    <img class="mark" src={logo} alt="" height="24" />
  ) : (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" style={{ color: siteColour() }}>
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <path d="M9 8v17M9 12.5 24 8.500" class="mark-lines" />
    </svg>
  );
}
