// The search, the versions and the list of pages on narrow screens. Pages are read without it as well.
"use strict";

const root = document.documentElement.dataset.root;
const query = document.getElementById("query");
const found = document.getElementById("found");

// A narrow screen begins with the text, not with the list of pages.
if (matchMedia("(max-width: 50rem)").matches) document.getElementById("pages").open = false;
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

const versions = document.getElementById("versions");
const current = versions.value;
versions.replaceChildren(...[...new Set([...(window.versions ?? []), current])].map((name) => new Option(name, name, false, name === current)));
versions.addEventListener("change", () => {
  // The same page may not exist in another version, and a file can't be asked whether it exists.
  location.href = `${root}../${encodeURIComponent(versions.value)}/index.html`;
});

// load fetches the index of the search at the first use: it is as long as all pages.
let loading;
function load() {
  return (loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}words.js`;
    script.onload = resolve;
    script.onerror = () => reject(new Error("words.js is missing"));
    document.head.append(script);
  }));
}

// rank returns how well a section fits: titles count more than texts, and words in their order more than
// words apart; 0 if a word is missing.
function rank([, , page, title, text], words) {
  let sum = text.toLowerCase().includes(words.join(" ")) ? 10 : 0;
  for (const word of words) {
    const inTitle = title.toLowerCase().includes(word);
    const inPage = page.toLowerCase().includes(word);
    const times = text.toLowerCase().split(word).length - 1;
    if (!inTitle && !inPage && times === 0) return 0;
    sum += (inTitle ? 20 : 0) + (inPage ? 10 : 0) + Math.min(times, 5);
  }
  return sum;
}

// extract returns the part of a text around the first of the words, with all of them marked.
function extract(text, words) {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((i) => i >= 0), text.length) - 60);
  const part = text.slice(at, at + 180);
  const line = document.createElement("small");
  if (at > 0) line.append("… ");
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  part.split(pattern).forEach((piece, i) => {
    if (i % 2) {
      const mark = document.createElement("mark");
      mark.textContent = piece;
      line.append(mark);
    } else line.append(piece);
  });
  return line;
}

async function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  if (found.hidden) return;
  try {
    await load();
  } catch (error) {
    found.replaceChildren(item(`The search does not work: ${error.message}.`));
    return;
  }
  const best = window.words
    .map((entry) => [rank(entry, words), entry])
    .filter(([points]) => points > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, 20);
  found.replaceChildren(...best.map(([, entry]) => {
    const [path, anchor, page, title, text] = entry;
    const link = document.createElement("a");
    link.href = root + path + (anchor ? `#${anchor}` : "");
    const name = document.createElement("strong");
    name.textContent = title === page ? page : `${page}: ${title}`;
    link.append(name, extract(text, words));
    return item(link);
  }));
  if (best.length === 0) found.replaceChildren(item("No page has all of these words."));
}

function item(content) {
  const li = document.createElement("li");
  if (typeof content === "string") {
    const p = document.createElement("p");
    p.textContent = content;
    content = p;
  }
  li.append(content);
  return li;
}

query.addEventListener("input", search);
query.addEventListener("focus", () => void load().catch(() => {})); // search says that it is missing
document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  }
  if (event.key === "Escape") {
    query.value = "";
    found.hidden = true;
  }
  if (event.key === "ArrowDown" && document.activeElement === query) found.querySelector("a")?.focus();
});
