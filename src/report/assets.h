/*
 * The page's style sheet and script, as texts that end in NUL: assets/style.css and
 * assets/script.js, turned into constants by tools/embed.py while building.
 */
#ifndef TALLY_REPORT_ASSETS_H
#define TALLY_REPORT_ASSETS_H

extern const char page_style[];
extern const char page_script[];

#endif
