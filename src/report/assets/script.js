// Hover, filtering and switching of bands. The page is whole without it.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");

  // Bands: one button each; everything marked with another band is hidden.
  var parts = Array.prototype.slice.call(document.querySelectorAll("[data-band]"));
  var buttons = Array.prototype.slice.call(document.querySelectorAll("button[data-show]"));
  function show(band) {
    parts.forEach(function (p) { p.hidden = band !== "all" && p.dataset.band !== band; });
    buttons.forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.show === band)); });
  }
  buttons.forEach(function (b) { b.addEventListener("click", function () { show(b.dataset.show); }); });
  if (buttons.length) { show(buttons[0].dataset.show); }

  // Lanes: hide the drawings of one lane in the plots.
  document.querySelectorAll("input[data-lane]").forEach(function (box) {
    box.addEventListener("change", function () {
      document.querySelectorAll("svg.plot ." + box.dataset.lane).forEach(function (e) {
        e.style.display = box.checked ? "" : "none";
      });
    });
  });

  // Timelines: requests as rows of numbers beside the picture; pointer or arrow keys choose one.
  // Row: [y, t_sent, t_first, t_last, outcome, prompt, output, worker, longest gap], times in ms.
  document.querySelectorAll("svg.timeline").forEach(function (svg) {
    var id = svg.dataset.rows, holder = document.getElementById(id);
    if (!holder) { return; }
    var data = JSON.parse(holder.textContent), rows = data.rows, at = -1;
    var readout = document.getElementById(id + "-readout");
    var only = document.getElementById(id + "-only");
    var pointer = document.createElementNS("http://www.w3.org/2000/svg", "path");
    pointer.setAttribute("class", "pointer");
    svg.appendChild(pointer);
    function wanted(r) { return !only || only.value === "all" || r[4] === only.value; }
    function ms(v) { return v === null ? "none" : v.toFixed(1) + " ms"; }
    function choose(i) {
      if (i < 0 || i >= rows.length) { return; }
      at = i;
      var r = rows[i];
      var x = function (t) { return data.left + (t - data.from) * data.scale; };
      var end = r[3] === null ? r[1] : r[3];
      pointer.setAttribute("d", "M" + (x(r[1]) - 3) + " " + (r[0] - 1) + "H" + (x(end) + 3) + "v" +
        (data.row + 2) + "H" + (x(r[1]) - 3) + "z");
      readout.textContent = "Request " + (i + 1) + " of " + data.of + ", worker " + r[7] + ": " +
        r[4] + ". Sent at " + ms(r[1]) + "; first token after " +
        (r[2] === null ? "none" : ms(r[2] - r[1])) + "; last after " +
        (r[3] === null ? "none" : ms(r[3] - r[1])) + "; " + (r[5] === null ? "unknown" : r[5]) +
        " prompt and " + (r[6] === null ? "unknown" : r[6]) + " output tokens; longest gap " +
        ms(r[8]) + ".";
    }
    function step(by) {
      var i = at;
      do { i += by; } while (i >= 0 && i < rows.length && !wanted(rows[i]));
      choose(i);
    }
    svg.addEventListener("pointermove", function (e) {
      var box = svg.getBoundingClientRect(), k = data.width / box.width;
      var t = ((e.clientX - box.left) * k - data.left) / data.scale + data.from;
      var y = (e.clientY - box.top) * k, best = -1, least = Infinity;
      for (var i = 0; i < rows.length; i++) {
        var r = rows[i];
        if (!wanted(r) || y < r[0] - 1 || y > r[0] + data.row + 1) { continue; }
        var end = r[3] === null ? r[1] : r[3];
        var far = t < r[1] ? r[1] - t : t > end ? t - end : 0;
        if (far < least) { least = far; best = i; }
      }
      if (best >= 0) { choose(best); }
    });
    svg.addEventListener("focus", function () { if (at < 0) { step(1); } });
    svg.addEventListener("keydown", function (e) {
      if (e.key === "ArrowRight" || e.key === "ArrowDown") { step(1); e.preventDefault(); }
      if (e.key === "ArrowLeft" || e.key === "ArrowUp") { step(-1); e.preventDefault(); }
      if (e.key === "Home") { at = -1; step(1); e.preventDefault(); }
      if (e.key === "End") { at = rows.length; step(-1); e.preventDefault(); }
    });
    if (only) { only.addEventListener("change", function () { at = -1; step(1); }); }
  });

  // Marks in plots: their text also stands below the plot, for those who cannot hover.
  document.querySelectorAll("figure").forEach(function (f) {
    var readout = f.querySelector(".readout.marks");
    if (!readout) { return; }
    f.querySelectorAll("g.mark").forEach(function (g) {
      function say() { readout.textContent = g.getAttribute("aria-label"); }
      g.addEventListener("pointerenter", say);
      g.addEventListener("focus", say);
    });
  });
})();
