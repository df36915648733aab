/* What a page does without its server: lighting rows and nodes, themes, saving pictures, copying links. */
"use strict";

(function () {
  const act = (payload) => window.dash_clientside.set_props("action", { data: { ...payload, at: Date.now() } });
  const kindSelector = (kind) => `[kind = ${JSON.stringify(kind)}]`;
  let cy = null;

  function light(kind) {
    if (cy === null || cy.destroyed()) return;
    cy.batch(() => {
      cy.elements().removeClass("hot cold");
      if (kind === null) return;
      const hot = cy.nodes(kindSelector(kind));
      if (hot.empty()) return;
      cy.nodes().not(hot).addClass("cold");
      hot.addClass("hot");
    });
    document.querySelectorAll("#table tr.hot").forEach((row) => row.classList.remove("hot"));
    document.querySelectorAll("#table tr[data-kind]").forEach((row) => {
      if (row.dataset.kind === kind) row.classList.add("hot");
    });
  }

  function describe(node) {
    const [, ...readings] = node.data("text").split("\n");
    const label = node.data("labelled");
    if (label) readings[0] = `labelled ${label}`; // whole: in the node it may be cut short
    document.getElementById("hover").textContent = [node.data("name"), ...readings].join("  ");
  }

  const fit = () => {
    if (cy === null || cy.destroyed()) return;
    cy.resize();
    cy.fit(undefined, 14);
    if (cy.zoom() > 1.6) {
      cy.zoom(1.6);
      cy.center();
    }
  };

  function attach(found) {
    cy = found;
    new ResizeObserver(fit).observe(cy.container());
    cy.on("layoutstop", fit);
    cy.on("tap", "node", (event) => act({ do: "tap", node: event.target.data("name"), graph: event.target.data("graph") }));
    cy.on("tap", "edge", (event) => {
      const [source, target] = [event.target.source(), event.target.target()];
      act({ do: "pair", node: source.data("name"), other: target.data("name"), graph: source.data("graph") });
    });
    cy.on("mouseover", "node", (event) => {
      light(event.target.data("kind"));
      describe(event.target);
    });
    cy.on("mouseout", "node", () => {
      light(null);
      document.getElementById("hover").textContent = "";
    });
    cy.on("mouseover", "edge", (event) => event.target.addClass("over"));
    cy.on("mouseout", "edge", (event) => event.target.removeClass("over"));
  }

  // The canvas comes when Dash has loaded it, and comes anew whenever Dash thinks so.
  new MutationObserver(() => {
    const canvas = document.getElementById("canvas");
    const found = canvas && canvas._cyreg && canvas._cyreg.cy;
    if (found && found !== cy) attach(found);
  }).observe(document.documentElement, { childList: true, subtree: true });

  function doers(event) {
    return event.target.closest ? event.target.closest("[data-do]") : null;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#link");
    if (link) {
      event.preventDefault();
      navigator.clipboard.writeText(link.href).then(() => {
        link.classList.add("copied");
        setTimeout(() => link.classList.remove("copied"), 1500);
      });
      return;
    }
    const doer = doers(event);
    if (doer) act({ ...doer.dataset });
  });
  document.addEventListener("keydown", (event) => {
    const doer = doers(event);
    if (doer && doer.tagName === "TR" && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      act({ ...doer.dataset });
    }
  });
  document.addEventListener("mouseover", (event) => {
    const row = event.target.closest("#table tr[data-kind]");
    if (row) light(row.dataset.kind);
  });
  document.addEventListener("mouseout", (event) => {
    if (event.target.closest("#table tr[data-kind]")) light(null);
  });
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("#table tr[data-kind]");
    if (row) light(row.dataset.kind);
  });

  const preferred = () => (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.elene = {
    shade(clicks, kept, styles) {
      let theme = kept || preferred();
      if (clicks && window.dash_clientside.callback_context.triggered_id === "shade") {
        theme = theme === "dark" ? "light" : "dark";
        kept = theme;
      }
      document.documentElement.dataset.theme = theme;
      return [styles[theme], kept];
    },
    save(png, svg, query, kept) {
      const type = window.dash_clientside.callback_context.triggered_id;
      if (type === undefined || !(png || svg)) return window.dash_clientside.no_update;
      const words = [...new URLSearchParams(query).values()].join("-");
      const filename = `elene-${words}`.replace(/[^\p{L}\p{N}.-]+/gu, "_").slice(0, 80);
      const bg = getComputedStyle(document.documentElement).getPropertyValue("--page").trim();
      return { type, action: "download", filename, options: { full: true, scale: 2, bg } };
    },
  };
  document.documentElement.dataset.theme = preferred();
})();
