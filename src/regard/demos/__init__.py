"""`regard demo`: a whole story in minutes, on data that is on this machine already. One file per story.

Read shared → pronounce (words inside the package), caption (emoji), handwriting (words that are rendered).
"""
