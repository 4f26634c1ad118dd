"""The built-in plugins, one small file each; a plugin reads like its documentation."""
