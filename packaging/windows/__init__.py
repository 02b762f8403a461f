"""The installer for Windows: Inno Setup's script and what runs its compiler."""
