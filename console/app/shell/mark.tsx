/** The logo: a gate's post and its arm. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <path d="M9 8v17M9 12.5 24 8.500" class="mark-lines" />
    </svg>
  );
}
