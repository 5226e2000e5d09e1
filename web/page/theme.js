// Sets the theme, light or dark, as the user chose on this page or else in the
// system. It is a classic script, so that it runs before anything is drawn.
"use strict";
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = localStorage.getItem("theme") || (dark.matches ? "dark" : "light");
    dispatchEvent(new Event("themechange"));
  };
  dark.addEventListener("change", apply);
  addEventListener("toggletheme", () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}
