"""The disk image for macOS: signing, notarising, and what runs hdiutil."""
