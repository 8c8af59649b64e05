"""How the report looks, on light and on dark screens, on paper and on a phone."""

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2430; --faint: #5b6472; --line: #d8dee8;
  --bar: #12408f; --can: #1a7f37; --mostly: #8a6100; --cannot: #b3261e }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e6e8ec; --faint: #9aa3af; --line: #2c333d;
  --bar: #9fd0ff; --can: #5bd37a; --mostly: #e3b341; --cannot: #ff8a80 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, "Noto Sans", sans-serif }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0.3rem 0 0.8rem }
h2 { font-size: 1.2rem; margin: 2rem 0 0.4rem } h3 { font-size: 1rem; margin: 1rem 0 0.3rem }
p { margin: 0.3rem 0; max-width: 46rem }
.faint { color: var(--faint) } .can { color: var(--can) } .mostly { color: var(--mostly) }
.cannot { color: var(--cannot) }
.wide, figure { overflow-x: auto }
table { border-collapse: collapse; margin: 0.6rem 0; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: 0.25rem 0.8rem; border-bottom: 1px solid var(--line); white-space: nowrap }
th { font-weight: 600; color: var(--faint) }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; min-width: 8rem }
.checks th:last-child, td.text { text-align: left; white-space: normal; min-width: 18rem }
.row { display: flex; flex-wrap: wrap; gap: 1.2rem; align-items: flex-start }
figure { margin: 0; max-width: 100% } figcaption { font-size: 0.9rem; color: var(--faint) }
.histogram .bar { fill: var(--bar) } .histogram .scale { fill: var(--faint); font-size: 11px }
.histogram .mean { stroke: var(--cannot); stroke-width: 1.5; stroke-dasharray: 4 3 }
"""
