// Names a language where the browser's own is none: Chromium with the locale C or POSIX says "en-US@posix", and uPlot, which makes a
// number format of that as it is loaded, would take the whole page with it.

try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" });
}
